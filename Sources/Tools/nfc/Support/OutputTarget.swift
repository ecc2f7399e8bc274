// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import PrivateStorage

/// Where a command writes an image: a file, or standard output.
enum OutputTarget {
    case file(String)
    case standardOutput

    /// What a person gave: a path, or `-`.
    init(_ path: String) {
        self = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(path) ? .standardOutput : .file(path)
    }

    /// Whether an image goes to standard output, so that nothing else does.
    static func isStandardOutput(_ out: String?) -> Bool {
        if case .standardOutput? = out.map(OutputTarget.init) { true } else { false }
    }

    /// Writes an image.
    ///
    /// - Parameters:
    ///   - bytes: the image.
    ///   - readers: who may read a file that is new.
    func write(_ bytes: [UInt8], readers: OutputFile.Readers) throws(CommandFailure) {
        switch self {
        case .file(let path):
            do throws(StorageError) {
                try OutputFile.write(bytes, to: path, readers: readers)
            } catch {
                let step = [.denied, .missing].contains(error.code) ? " Check the folder and its owner." : ""
                throw CommandFailure(.refused, "unwritable-file", error.reason + step)
            }
        case .standardOutput:
            var output = StandardOutput()
            output.buffer = bytes
            output.flush()
        }
    }

    /// Refuses standard input and output where they are needed for something else.
    ///
    /// - Parameters:
    ///   - image: the image that is read; nil for none.
    ///   - out: where one is written; nil for none, and for the file that was read.
    ///   - savesImage: whether an image is written without `out` too.
    ///   - json: whether the command answers in JSON.
    static func check(image: String?, out: String?, savesImage: Bool, json: Bool) throws {
        if json, isStandardOutput(out) {
            throw ValidationError("Standard output has the image, and no room for --json. Name a file with --out FILE.")
        }
        if savesImage, image == "-", out == nil {
            throw ValidationError(
                "The image comes from standard input. Say where it is saved: --out FILE, or --out - for standard output."
            )
        }
    }
}

/// Prints a line for people: to standard output, or to standard error where standard output has an image.
///
/// - Parameters:
///   - text: the line.
///   - out: where the command writes an image; nil for nowhere.
func printLine(_ text: String, beside out: String?) {
    if OutputTarget.isStandardOutput(out) { StandardError.writeLine(text) } else { printLine(text) }
}
