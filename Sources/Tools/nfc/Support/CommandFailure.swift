// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NDEF
import NFCSessions
import TagLink
import TagProtocols
import TextSafety

/// Why a command failed. It is printed in one place: as a JSON object with `--json`, as a sentence without.
///
/// A class, so that a thrown error is one pointer wide.
final class CommandFailure: Error {
    /// The documented exit status.
    enum Status: Int32 {
        /// The tag or the data was refused.
        case refused = 1
        /// The command was called wrongly.
        case usage = 2
        /// There is no reader.
        case noReader = 3
        /// The person cancelled.
        case cancelled = 130
    }

    let status: Status
    /// The error's name, for programs.
    let name: String
    /// What happened and what to do next, as sentences.
    let message: String
    /// The index of the wrong byte of a message; nil for other failures.
    let offset: Int?
    /// The report on the tag that refused the command; nil when there is none.
    let tag: TagReport?

    init(
        _ status: Status = .refused,
        _ name: String,
        _ message: String,
        offset: Int? = nil,
        tag: TagReport? = nil
    ) {
        self.status = status
        self.name = name
        self.message = message
        self.offset = offset
        self.tag = tag
    }

    /// The same failure, with the report on a tag.
    func of(_ tag: TagReport) -> CommandFailure {
        CommandFailure(status, name, message, offset: offset, tag: tag)
    }

    /// Prints the failure and ends the command with its status.
    func report(json: Bool) throws -> Never {
        print(json: json)
        throw ExitCode(status.rawValue)
    }

    /// Prints the failure: an object with `--json`; otherwise the report on the tag, and a sentence.
    ///
    /// - Parameters:
    ///   - json: whether to print an object.
    ///   - out: where the command writes an image; nil for nowhere.
    func print(json: Bool, beside out: String? = nil) {
        guard !json else { return printJSON() }
        for line in tag?.lines ?? [] { printLine(line, beside: out) }
        StandardError.writeLine("Error: \(message)")
    }

    /// Prints the failure as an object.
    func printJSON() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", false)
        writer.member("error", name)
        if let offset { writer.member("offset", offset) }
        writer.member("message", message)
        tag?.write(to: &writer)
        writer.endObject()
        writer.printLine()
    }
}

extension JSONWriter {
    /// Prints the text so far as a line of standard output, and clears it.
    mutating func printLine() {
        newLine()
        var output = StandardOutput()
        swap(&output.buffer, &text)
        output.flush()
    }
}

/// Prints a line for people to standard output. Invisible characters are escaped.
func printLine(_ text: String) {
    var output = StandardOutput()
    output.appendLine(text)
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
    /// A reader that can't be used: `reader-lost` if it worked before, otherwise `no-reader`.
    static func unusable(_ driver: (any ReaderDriver)?, _ reason: String) -> CommandFailure {
        CommandFailure(.noReader, driver?.wasAvailable == true ? "reader-lost" : "no-reader", reason)
    }

    /// A card that another program uses.
    static func inUse(_ reason: String) -> CommandFailure { CommandFailure(.refused, "in-use", reason) }

    convenience init(_ error: TagError) {
        let step = Self.nextStep(after: error.code).map { " " + $0 } ?? ""
        let reason = error.reason + step
        switch error.code {
        case .readerUnavailable where error.link?.code == .inUse: self.init(.inUse(reason))
        // The reader worked before, because it found a tag.
        case .readerUnavailable: self.init(.noReader, "reader-lost", reason)
        case .cancelled: self.init(.cancelled, error.code.description, reason)
        default: self.init(.refused, error.code.description, reason)
        }
    }

    /// The same failure.
    convenience init(_ other: CommandFailure) {
        self.init(other.status, other.name, other.message, offset: other.offset, tag: other.tag)
    }

    /// A message that can't be decoded.
    convenience init(_ error: NDEFError) {
        self.init(.refused, error.code.description, error.reason, offset: error.offset)
    }

    /// Invalid input.
    convenience init(_ error: InputError) {
        self.init(.refused, error.name, error.message)
    }

    /// A failed write. If the tag or the reader left during the write, or the tag refused a part of it, the message explains
    /// what may be on the tag.
    convenience init(_ failure: TagWriteFailure) {
        let error = failure.error
        guard failure.leavesDoubt else {
            let loss = error.code == .updateFailed ? Self.loss(in: failure.step) : ""
            self.init(TagError(error.code, error.reason + loss, link: error.link))
            return
        }
        let plain = CommandFailure(error)
        self.init(plain.status, plain.name, error.reason + " " + Self.doubt(in: failure.step))
    }

    /// What is lost on a tag that refused a part of a step.
    private static func loss(in step: TagWriteFailure.Step) -> String {
        switch step {
        case .writing: " The message that was on the tag may be gone."
        case .checking: ""
        case .locking: " " + partlyLocked
        }
    }

    /// What may be on a tag that left in a step.
    private static func doubt(in step: TagWriteFailure.Step) -> String {
        switch step {
        case .writing:
            """
            The tag may now hold the old message, none, the new one, or a part that readers don't accept. Hold it near \
            the reader and write it again to repair it.
            """
        case .checking:
            """
            The message was written but not verified. Hold the tag near the reader again, and check it with: nfc tag \
            read
            """
        case .locking: "\(partlyLocked) Hold it near the reader again, and check it with: nfc tag info"
        }
    }

    private static let partlyLocked =
        "The message was written. The tag may be read-only completely, partly, or not at all."

    /// What the person can do next.
    private static func nextStep(after code: TagError.Code) -> String? {
        switch code {
        case .tagLost: "Hold the tag still and try again."
        case .noCapabilityContainer, .badVersion, .noMessageTLV, .badChecksum: "Use a tag that is formatted for NDEF."
        case .lengthOverrun, .writeInProgress: "Write the tag again, or use another one."
        case .readOnly: "Use another tag."
        case .readProtected: "Use a program that knows its password."
        case .messageTooLong: "Use a shorter message, or a tag with more memory."
        case .keyNeeded: "Use a program that knows it."
        case .refused, .updateFailed, .badAnswer: "Try again. If it happens again, the tag is worn out."
        default: nil
        }
    }
}
