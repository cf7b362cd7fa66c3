/// What a person presses, as far as a review needs it.
package enum Key: Equatable, Sendable {
    case left
    case right
    case up
    case down
    case enter
    case interrupt
    case suspend
    /// An ordinary character.
    case character(Character)
}

/// What a terminal answers when it is asked what it can do.
package enum TerminalAnswer: Equatable, Sendable {
    /// Its attributes (DA1): 4 says that it draws sixels.
    case attributes([Int])
}

package enum TerminalInput: Equatable, Sendable {
    case key(Key)
    case answer(TerminalAnswer)
}

/// Takes keys and answers out of the bytes that a terminal sends. They may be cut anywhere: what is not complete waits for the
/// next bytes.
///
/// No time is waited for. An escape alone means nothing here, so it need not be told from the beginning of a sequence, which
/// over a slow line comes late: the next byte tells. Sequences that mean nothing here are left out as a whole, and so is
/// what they carry; one that never ends is given up after ``longest`` bytes.
package struct KeyReader {
    package static let longest = 4096

    private enum State {
        case ground
        case escape
        /// `ESC [`: parameters, intermediates, one final byte.
        case control([UInt8])
        /// `ESC O`: one byte.
        case single
        /// A string (DCS, OSC, APC, PM, SOS): until ESC \ or BEL.
        case string(count: Int, isEscaped: Bool)
        /// The first bytes of a character.
        case character([UInt8], missing: Int)
    }

    private var state = State.ground

    package init() {}

    package mutating func read(_ bytes: some Sequence<UInt8>) -> [TerminalInput] {
        bytes.compactMap { read($0) }
    }

    private mutating func read(_ byte: UInt8) -> TerminalInput? {
        switch state {
        case .ground: return ground(byte)
        case .escape:
            switch byte {
            case UInt8(ascii: "["): state = .control([])
            case UInt8(ascii: "O"): state = .single
            case UInt8(ascii: "P"), UInt8(ascii: "]"), UInt8(ascii: "_"), UInt8(ascii: "^"), UInt8(ascii: "X"):
                state = .string(count: 0, isEscaped: false)
            default:
                // An escape of its own before a key, or the key with Alt: the key.
                state = .ground
                return ground(byte)
            }
            return nil
        case .single:
            state = .ground
            return Self.arrow(byte).map(TerminalInput.key)
        case .control(let text): return control(text, byte)
        case .string(let count, let isEscaped):
            if byte == 7 || (isEscaped && byte == UInt8(ascii: "\\")) || count >= Self.longest {
                state = .ground
            } else {
                state = .string(count: count + 1, isEscaped: byte == 0x1B)
            }
            return nil
        case .character(var bytes, let missing):
            guard byte & 0xC0 == 0x80 else {
                state = .ground
                return ground(byte)
            }
            bytes.append(byte)
            state = missing > 1 ? .character(bytes, missing: missing - 1) : .ground
            guard missing == 1, let text = String(validating: bytes, as: UTF8.self), let character = text.first else {
                return nil
            }
            return .key(.character(character))
        }
    }

    private mutating func ground(_ byte: UInt8) -> TerminalInput? {
        state = .ground
        switch byte {
        case 0x1B: state = .escape
        case 0x03, 0x1C: return .key(.interrupt)
        case 0x1A: return .key(.suspend)
        case 0x0D, 0x0A: return .key(.enter)
        case 0x20...0x7E: return .key(.character(Character(Unicode.Scalar(byte))))
        case 0xC2...0xDF: state = .character([byte], missing: 1)
        case 0xE0...0xEF: state = .character([byte], missing: 2)
        case 0xF0...0xF4: state = .character([byte], missing: 3)
        default: break
        }
        return nil
    }

    private mutating func control(_ text: [UInt8], _ byte: UInt8) -> TerminalInput? {
        switch byte {
        case 0x20...0x3F:
            state = text.count < Self.longest ? .control(text + [byte]) : .ground
            return nil
        case 0x40...0x7E:
            state = .ground
            // `ESC [ 1 ; 5 C` is an arrow with Ctrl.
            if let arrow = Self.arrow(byte) { return .key(arrow) }
            guard byte == UInt8(ascii: "c"), text.first == UInt8(ascii: "?") else { return nil }
            let numbers = String(decoding: text.dropFirst(), as: UTF8.self).split(separator: ";").compactMap { Int($0) }
            return .answer(.attributes(numbers))
        default:
            // No part of a sequence: it was cut short, and this is what comes after.
            state = .ground
            return ground(byte)
        }
    }

    private static func arrow(_ byte: UInt8) -> Key? {
        switch byte {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        default: nil
        }
    }
}
