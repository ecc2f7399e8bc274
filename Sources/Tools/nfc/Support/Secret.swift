// SPDX-License-Identifier: Apache-2.0
import Glibc
import LinuxSupport

/// Reads a password or a key that the user gave. A message never contains it.
enum Secret {
    /// Returns the bytes that a text describes: `hex:`, `0x`, `text:`, `file:` or `env:`; with nil, asks for them on the
    /// terminal, and twice for a new one.
    ///
    /// - Parameter name: the word for it in messages, such as `password` or `key`.
    static func read(_ text: String?, _ name: String, isNew: Bool = false) throws -> [UInt8] {
        try text.map { try described(by: $0, name) } ?? asked(name, isNew: isNew)
    }

    /// Returns a text, or the content of the file or variable that it names with `file:` or `env:`.
    static func text(_ text: String) throws -> String {
        if let path = text.rest(after: "file:") {
            return try decoded(try InputFile.named(path, limit: 4096).readToEnd())
        }
        guard let variable = text.rest(after: "env:") else { return text }
        guard let value = unsafe getenv(variable) else {
            throw CommandFailure(.usage, "usage", "The environment has no variable \(variable).")
        }
        return unsafe String(cString: value)
    }

    private static func described(by text: String, _ name: String) throws -> [UInt8] {
        let isNamed = text.hasPrefix("file:") || text.hasPrefix("env:")
        let text = isNamed ? try Secret.text(text).lineWithoutEnd : text
        return try plainBytes(text, name)
    }

    private static func plainBytes(_ text: String, _ name: String) throws -> [UInt8] {
        if let text = text.rest(after: "text:") { return Array(text.utf8) }
        guard let hex = text.rest(after: "hex:") ?? text.rest(after: "0x") else {
            throw failure(
                name,
                "Write the \(name) as hex:01020304, 0x01020304 or text:abcd, so that its bytes are clear."
            )
        }
        guard let bytes = HexArgument(argument: hex)?.bytes else {
            throw failure(name, "The \(name) has something other than pairs of hex digits. Write it like hex:01020304.")
        }
        return bytes
    }

    private static func asked(_ name: String, isNew: Bool) throws -> [UInt8] {
        guard isatty(STDIN_FILENO) == 1 else {
            throw failure(name, "Give the \(name): hex:01020304, text:abcd, file:PATH or env:NAME.")
        }
        let title = name.prefix(1).uppercased() + name.dropFirst()
        let line = try hiddenLine("\(title) of the tag, such as hex:01020304 or text:abcd:", repeats: isNew)
        return try plainBytes(line, name)
    }

    /// Asks for a line without showing it; twice if it has to be typed without a mistake.
    static func hiddenLine(_ prompt: String, repeats: Bool = false) throws -> String {
        let line = try hiddenLine(prompt)
        if repeats, try hiddenLine("Once more:") != line {
            throw CommandFailure("not-confirmed", "The two lines differ. Nothing was changed.")
        }
        return line
    }

    private static func hiddenLine(_ prompt: String) throws -> String {
        var shown = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &shown) == 0 else {
            throw CommandFailure("terminal", "The terminal can't be read.")
        }
        var hidden = shown
        // Ctrl-C arrives as a key, so that the terminal always gets its settings back.
        hidden.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer { _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown) }
        StandardError.writeLine(prompt)
        var line: [UInt8] = []
        while true {
            var key: UInt8 = 0
            guard unsafe Glibc.read(STDIN_FILENO, &key, 1) == 1, key != 0x03, key != 0x04 else {
                throw CommandFailure(.cancelled, "cancelled", "Cancelled.")
            }
            switch key {
            case 0x0A, 0x0D: return try decoded(line)
            case 0x08, 0x7F: _ = line.popLast()
            default: line.append(key)
            }
        }
    }

    /// Replaced bytes would make a password that no other program sends.
    private static func decoded(_ bytes: [UInt8]) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(.usage, "usage", "The password or key is not UTF-8. Write its bytes with hex:.")
        }
        return text
    }

    private static func failure(_ name: String, _ message: String) -> CommandFailure {
        CommandFailure(.usage, "bad-\(name)", message)
    }
}

extension String {
    fileprivate func rest(after prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }

    /// The text before the end of its first line.
    fileprivate var lineWithoutEnd: String { String(prefix { !$0.isNewline }) }
}
