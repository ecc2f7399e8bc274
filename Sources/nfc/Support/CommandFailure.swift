// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NFCRuntime
import TagProtocols

/// Why a command did not do what was asked, told in one place: a JSON object with `--json`, a sentence without.
///
/// A class, so that it is one word wherever a call may throw it.
final class CommandFailure: Error {
    /// The exit status of the contract.
    enum Status: Int32 {
        /// The tag, or the data, said no.
        case refused = 1
        /// The command was called wrongly.
        case usage = 2
        /// There is no reader.
        case noReader = 3
        /// The person cancelled.
        case cancelled = 130
    }

    let status: Status
    /// The error's name, as programs read it.
    let name: String
    /// What happened and what to do next, as a sentence.
    let message: String

    init(_ status: Status = .refused, _ name: String, _ message: String) {
        self.status = status
        self.name = name
        self.message = message
    }

    /// Prints the failure and ends the command with its status.
    func report(json: Bool, _ more: (inout JSONWriter) -> Void = { _ in }) throws -> Never {
        if json, status != .usage {
            var writer = JSONWriter()
            writer.beginObject()
            writer.member("ok", false)
            writer.member("error", name)
            writer.member("message", message)
            more(&writer)
            writer.endObject()
            writer.printLine()
        } else {
            StandardError.write("Error: \(RecordText.printable(message))\n")
        }
        throw ExitCode(status.rawValue)
    }
}

extension JSONWriter {
    /// Prints what was written as a line of standard output, and begins anew.
    mutating func printLine() {
        newLine()
        var output = StandardOutput()
        swap(&output.buffer, &text)
        output.flush()
    }
}

/// Prints a line for people to standard output.
func printLine(_ text: String) {
    var output = StandardOutput()
    output.buffer = Array(text.utf8) + [0x0A]
    output.flush()
}

/// Runs the work of a command and reports its failure.
func reportingFailure<Value>(json: Bool, _ body: () async throws(CommandFailure) -> Value) async throws -> Value {
    do throws(CommandFailure) {
        return try await body()
    } catch {
        try error.report(json: json)
    }
}

extension CommandFailure {
    convenience init(_ error: TagError) {
        let status: Status =
            switch error.code {
            case .readerUnavailable: .noReader
            case .cancelled: .cancelled
            default: .refused
            }
        let step = Self.nextStep(after: error.code).map { " " + $0 } ?? ""
        self.init(status, error.code.description, error.reason + step)
    }

    /// A write that failed. Where the tag, or the reader, went in the middle of it, people are told what may be on the tag.
    convenience init(_ failure: TagWriteFailure) {
        let plain = CommandFailure(failure.error)
        let state: String? =
            switch failure.step {
            case _ where !failure.leavesDoubt: nil
            case .writing:
                """
                What it holds now may be the old message, none, the new one, or a part that readers don't take for a \
                message. Hold it near the reader again and write it again, which puts that right.
                """
            case .checking:
                """
                The message was written and not read again. Hold the tag near the reader again and compare it with: nfc \
                tag read
                """
            case .locking:
                """
                The message was written, and the tag may be read-only, in a part only, or not at all. Hold it near the \
                reader again and see which with: nfc tag info
                """
            }
        self.init(plain.status, plain.name, state.map { failure.error.reason + " " + $0 } ?? plain.message)
    }

    /// What a person can do about it.
    private static func nextStep(after code: TagError.Code) -> String? {
        switch code {
        case .tagLost: "Hold the tag still and try again."
        case .noCapabilityContainer, .badVersion, .noMessageTLV, .badChecksum: "Use a tag that is formatted for NDEF."
        case .lengthOverrun, .writeInProgress: "Write the tag anew, or use another one."
        case .readOnly: "Use another tag."
        case .messageTooLong: "Use a shorter message, or a tag with more memory."
        case .refused, .updateFailed, .badAnswer: "Try again; a tag that goes on like this is worn."
        default: nil
        }
    }
}
