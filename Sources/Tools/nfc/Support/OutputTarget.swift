// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import LinuxSupport

/// Where a command writes an image: a file, or standard output.
enum OutputTarget {
    case file(String)
    case standardOutput

    /// Parses the argument: a path, or `-`.
    init(_ path: String) {
        self = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(path) ? .standardOutput : .file(path)
    }

    /// Whether the image goes to standard output, so that other output must not.
    static func isStandardOutput(_ out: String?) -> Bool {
        if case .standardOutput? = out.map(OutputTarget.init) { true } else { false }
    }

    /// Writes an image.
    ///
    /// - Parameters:
    ///   - bytes: the image.
    ///   - readers: who may read the file if it is new.
    func write(_ bytes: [UInt8], readers: OutputFile.Readers) throws(CommandFailure) {
        switch self {
        case .file(let path):
            do throws(StorageError) {
                try OutputFile.write(bytes, to: path, readers: readers)
            } catch {
                let step = [.denied, .missing].contains(error.code) ? " Check the folder and its owner." : ""
                throw CommandFailure(.refused, "unwritable-file", error.reason + step)
            }
        case .standardOutput: StandardOutput.write(bytes)
        }
    }

    /// Refuses `-` when standard input or output is needed for something else.
    ///
    /// - Parameters:
    ///   - image: the image to read; nil for none.
    ///   - out: the image to write; nil for none, and for the file that was read.
    ///   - savesImage: whether an image is also written without `out`.
    ///   - json: whether the command prints JSON.
    ///   - content: what is written, and the option for its place.
    static func check(
        image: String?,
        out: String?,
        savesImage: Bool,
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
                "The image comes from standard input. Give a place to save it: --out FILE, or --out - for standard output."
            )
        }
    }
}

/// Prints a line for people: to standard output, or to standard error when standard output takes an image.
///
/// - Parameters:
///   - text: the line.
///   - out: where the command writes an image; nil for nowhere.
func printLine(_ text: String, beside out: String?) {
    if OutputTarget.isStandardOutput(out) { StandardError.writeLine(text) } else { printLine(text) }
}
