import ServiceMesh

/// What a person does: real events, which a page cannot tell from those of a mouse, a finger or a keyboard.
extension Page {
    public struct Point: Codable, Sendable {
        public let x: Double
        public let y: Double

        public init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// Keys that are held while another is pressed, or the mouse.
    public struct Modifiers: OptionSet, Sendable {
        public let rawValue: Int64
        public init(rawValue: Int64) { self.rawValue = rawValue }
        public static let alt = Modifiers(rawValue: 1)
        public static let control = Modifiers(rawValue: 2)
        public static let meta = Modifiers(rawValue: 4)
        public static let shift = Modifiers(rawValue: 8)
    }

    /// Presses a key and lets it go: a character, or a name such as `Enter`, `ArrowLeft`, `Escape`.
    public func press(_ key: String, _ modifiers: Modifiers = []) async throws {
        let code = Self.code(of: key)
        var parameters: [String: JSONValue] = [
            "type": "keyDown", "key": .string(key == "Space" ? " " : key), "code": .string(code.name),
            "windowsVirtualKeyCode": .integer(code.number), "modifiers": .integer(modifiers.rawValue),
        ]
        if let text = code.text, modifiers.isSubset(of: .shift) { parameters["text"] = .string(text) }
        try await send("Input.dispatchKeyEvent", parameters)
        parameters["type"] = "keyUp"
        parameters["text"] = nil
        try await send("Input.dispatchKeyEvent", parameters)
    }

    /// The key's place on the keyboard, its number in Windows's table, which the protocol speaks, and what it writes.
    private static func code(of key: String) -> (name: String, number: Int64, text: String?) {
        let named: [String: Int64] = [
            "Backspace": 8, "Tab": 9, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
            "ArrowLeft": 37,
            "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46, "F2": 113,
        ]
        if let number = named[key] { return (key, number, nil) }
        if key == "Enter" { return (key, 13, "\r") }
        if key == "Space" || key == " " { return ("Space", 32, " ") }
        let upper = key.uppercased()
        guard let ascii = upper.utf8.first, upper.utf8.count == 1 else { return ("", 0, key) }
        let letter = ascii >= 0x41 && ascii <= 0x5A
        let digit = ascii >= 0x30 && ascii <= 0x39
        return (letter ? "Key" + upper : digit ? "Digit" + upper : "", letter || digit ? Int64(ascii) : 0, key)
    }

    /// Writes into what has the focus.
    public func type(_ text: String) async throws { try await send("Input.insertText", ["text": .string(text)]) }

    /// The middle of the first element that a selector finds, scrolled into the window.
    /// - Throws: ``BrowserFault`` where it finds none, or one that is not to be seen.
    public func middle(of selector: String) async throws -> Point {
        let found: Point? = try await evaluate(
            """
            (() => {
              const element = document.querySelector(\(Self.literal(selector)));
              element?.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
              const box = element?.getBoundingClientRect();
              return box?.width && box.height ? { x: box.x + box.width / 2, y: box.y + box.height / 2 } : null;
            })()
            """)
        guard let found else { throw BrowserFault("Nothing is to be seen of \(selector).") }
        return found
    }

    /// Presses the mouse button in the middle of an element, so many times in a row.
    public func click(_ selector: String, _ modifiers: Modifiers = [], times: Int = 1) async throws {
        let point = try await middle(of: selector)
        try await mouse("mouseMoved", point, modifiers)
        for count in 1...times {
            try await mouse("mousePressed", point, modifiers, count: count)
            try await mouse("mouseReleased", point, modifiers, count: count)
        }
    }

    /// Presses the button at the first point, moves to each of the others, and lets go at the last.
    public func drag(_ points: [Point], _ modifiers: Modifiers = []) async throws {
        guard let first = points.first, let last = points.last else { return }
        try await mouse("mouseMoved", first, modifiers)
        try await mouse("mousePressed", first, modifiers, count: 1)
        for point in points.dropFirst() { try await mouse("mouseMoved", point, modifiers, isDown: true) }
        try await mouse("mouseReleased", last, modifiers, count: 1)
    }

    /// Turns the wheel at a point, by so many CSS pixels; down is positive.
    public func wheel(_ pixels: Double, at point: Point) async throws {
        try await send(
            "Input.dispatchMouseEvent",
            [
                "type": "mouseWheel", "x": .number(point.x), "y": .number(point.y), "deltaX": 0,
                "deltaY": .number(pixels),
            ])
    }

    private func mouse(
        _ type: String, _ point: Point, _ modifiers: Modifiers, count: Int = 0, isDown: Bool = false
    ) async throws {
        try await send(
            "Input.dispatchMouseEvent",
            [
                "type": .string(type), "x": .number(point.x), "y": .number(point.y),
                "button": .string(count > 0 || isDown ? "left" : "none"), "buttons": .integer(isDown ? 1 : 0),
                "clickCount": .integer(Int64(count)), "modifiers": .integer(modifiers.rawValue),
            ])
    }

    /// Puts a finger on the first point, moves it to each of the others, and lifts it; the window has `touch`.
    public func swipe(_ points: [Point]) async throws {
        for (index, point) in points.enumerated() {
            try await send(
                "Input.dispatchTouchEvent",
                [
                    "type": index == 0 ? "touchStart" : "touchMove",
                    "touchPoints": [["x": .number(point.x), "y": .number(point.y)]],
                ])
        }
        try await send("Input.dispatchTouchEvent", ["type": "touchEnd", "touchPoints": []])
    }

    /// Chooses files in a file input, as its dialog would.
    public func choose(_ files: [String], in selector: String) async throws {
        let found = try await send(
            "Runtime.evaluate", ["expression": .string("document.querySelector(\(Self.literal(selector)))")])
        guard let object = found["result"]?["objectId"] else {
            throw BrowserFault("There is no \(selector).")
        }
        try await send("DOM.setFileInputFiles", ["files": .array(files.map { .string($0) }), "objectId": object])
    }

    /// A text as JavaScript has it.
    public static func literal(_ text: String) -> String {
        var written = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": written += "\\" + String(scalar)
            case "\u{0}"..."\u{1F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                written += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: written.unicodeScalars.append(scalar)
            }
        }
        return written + "\""
    }
}
