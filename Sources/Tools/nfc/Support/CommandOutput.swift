// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import LinuxSupport
import TagLink
import TextSafety

/// Standard output, buffered to write in large blocks.
///
/// After a failed write, for example because the disk is full, output is discarded. A long loop should stop if
/// ``isBroken`` is true. ``CommandProcess/end(_:)`` reports the failure.
struct StandardOutput {
    var buffer: [UInt8] = []

    /// The errno of the first failed write; nil if all succeeded.
    private static let firstError = Locked<Int32?>(nil)

    /// The errno of the first failed write; nil if all succeeded.
    static var failure: Int32? { firstError.withLock { $0 } }

    static var isBroken: Bool { failure != nil }

    mutating func flush() {
        if !Self.isBroken, let number = OutputDescriptor.standardOutput.write(buffer) {
            Self.firstError.withLock { $0 = $0 ?? number }
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Adds a line for people. Escapes invisible characters and line breaks, so that untrusted text can't send commands
    /// to the terminal.
    mutating func appendLine(_ text: String) {
        buffer += VisibleText.escaped(text).utf8
        buffer.append(0x0A)
    }

    mutating func flushIfLarge() {
        if buffer.count >= 1 << 16 { flush() }
    }

    static func write(_ bytes: some Sequence<UInt8>) {
        var output = StandardOutput()
        output.buffer = Array(bytes)
        output.flush()
    }
}

/// Prints a line for people to standard output. Escapes invisible characters.
func printLine(_ text: String) {
    var output = StandardOutput()
    output.appendLine(text)
    output.flush()
}

/// Prints a line for people, to standard error if standard output is used for an image.
func printLine(_ text: String, beside out: String?) {
    if OutputTarget.isStandardOutput(out) { StandardError.writeLine(text) } else { printLine(text) }
}

enum StandardError {
    /// Writes a line for people. Escapes invisible characters, and line breaks unless the text is the program's own and
    /// `keepsLineBreaks` is true.
    static func writeLine(_ text: String, keepsLineBreaks: Bool = false) {
        OutputDescriptor.standardError.write(VisibleText.escaped(text, keepsLineBreaks: keepsLineBreaks) + "\n")
    }
}

enum OutputTarget {
    case file(String)
    case standardOutput

    init(_ path: String) {
        self = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(path) ? .standardOutput : .file(path)
    }

    /// Whether the image goes to standard output, so that nothing else may be printed there.
    static func isStandardOutput(_ out: String?) -> Bool {
        if case .standardOutput? = out.map(OutputTarget.init) { true } else { false }
    }

    func write(_ bytes: [UInt8], readers: OutputFile.Readers) throws {
        switch self {
        case .file(let path):
            do throws(StorageError) {
                try OutputFile.write(bytes, to: path, readers: readers)
            } catch {
                let step = [.denied, .missing].contains(error.code) ? " Check the folder and its owner." : ""
                throw CommandFailure("unwritable-file", error.reason + step)
            }
        case .standardOutput: StandardOutput.write(bytes)
        }
    }

    /// Throws if `-` is used while standard input or output is needed for something else.
    static func check(
        image: String? = nil,
        out: String?,
        savesImage: Bool = false,
        json: Bool,
        content: (name: String, option: String) = ("image", "--out")
    ) throws {
        if json, isStandardOutput(out) {
            throw ValidationError(
                "Standard output is the \(content.name), so --json can't use it. Name a file with \(content.option)."
            )
        }
        if savesImage, image == "-", out == nil {
            throw ValidationError(
                "The image comes from standard input. Give a file to save it to: --out FILE, or --out - for standard output."
            )
        }
    }
}
