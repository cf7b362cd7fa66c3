import Foundation

/// A request line; `id` and `params` as JSON.
func request(_ method: String, id: String = "1", params: String? = nil, deadlineMs: String? = nil) -> String {
    var line = #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)""#
    if let params { line += #","params":\#(params)"# }
    if let deadlineMs { line += #","deadlineMs":\#(deadlineMs)"# }
    return line + "}"
}

func cancellation(_ id: String) -> String {
    #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"#
}

func echo(_ text: String, id: String = "1") -> String {
    request("test.echo", id: id, params: #"{"text":"\#(text)"}"#)
}

func echoReply(_ text: String, id: String = "1") -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"result":{"text":"\#(text)"}}"#
}
