import Foundation

extension SidecarFacts {
    /// Whether a sidecar may say where something is. In doubt it does: programs have more ways to say so than are read here
    /// (a region's position, where a picture was shot and what it shows), and what cannot be read may say anything.
    public static func mayNamePlace(_ data: Data, named name: String) -> Bool {
        let text: [UInt8]
        do {
            text = try SidecarText.utf8(of: data, fallback: .latin1)
        } catch {
            return error != .empty
        }
        // As a program would read it that understands more escapes than the search below.
        guard let facts = try? SidecarFacts(data, named: name, now: 0) else { return true }
        if facts.latitude != nil { return true }
        let isTakeout = FolderName(name.utf8).dropping(".json") != nil
        let lower = text.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
        if !isTakeout, contains(lower, "gps"[...]) { return true }
        return ["latitude", "longitude"].contains { word in
            places(of: word[...], in: lower).contains { isTakeout ? !isZero(lower[$0...]) : true }
        }
    }

    private static func contains(_ text: [UInt8], _ word: Substring) -> Bool { !places(of: word, in: text).isEmpty }

    /// - Returns: the places behind the word.
    private static func places(of word: Substring, in text: [UInt8]) -> [Int] {
        let word = Array(word.utf8)
        guard let first = word.first, text.count >= word.count else { return [] }
        return (0...text.count - word.count).filter { place in
            text[place] == first && text[place..<place + word.count].elementsEqual(word)
        }.map { $0 + word.count }
    }

    /// Whether a member of JSON is a number that is 0, which Takeout writes where no place is known.
    /// - Parameter rest: what stands behind the member's name, or a part of it.
    private static func isZero(_ rest: ArraySlice<UInt8>) -> Bool {
        let value = rest.drop { $0 != UInt8(ascii: "\"") }.dropFirst().drop { XMLScanner.isSpace($0) }
        guard value.first == UInt8(ascii: ":") else { return false }
        let number = value.dropFirst().drop { XMLScanner.isSpace($0) }.prefix { byte in
            (48...57).contains(byte) || "+-.e".utf8.contains(byte)
        }
        return Double(String(decoding: number, as: UTF8.self)) == 0
    }
}
