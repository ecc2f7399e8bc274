// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NDEF
import NFCRuntime
import TagLink
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
    /// The byte of a message at which the fault lies; nil where that is no question.
    let offset: Int?
    /// The tag that said no, and what is known of it; nil where none was found.
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

    /// The same failure, of a tag.
    func of(_ tag: TagReport) -> CommandFailure {
        CommandFailure(status, name, message, offset: offset, tag: tag)
    }

    /// Prints the failure and ends the command with its status.
    func report(json: Bool) throws -> Never {
        print(json: json)
        throw ExitCode(status.rawValue)
    }

    /// Prints the failure: an object with `--json`; otherwise what is known of the tag, and a sentence.
    ///
    /// - Parameters:
    ///   - json: whether as an object.
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
    /// Prints what was written as a line of standard output, and begins anew.
    mutating func printLine() {
        newLine()
        var output = StandardOutput()
        swap(&output.buffer, &text)
        output.flush()
    }
}

/// Prints a line for people to standard output. What nobody sees is escaped.
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
    /// A reader that can't be used: lost when it was there before, and none when it never was.
    static func unusable(_ driver: (any ReaderDriver)?, _ reason: String) -> CommandFailure {
        CommandFailure(.noReader, driver?.wasThere == true ? "reader-lost" : "no-reader", reason)
    }

    /// A card that another program has.
    static func inUse(_ reason: String) -> CommandFailure { CommandFailure(.refused, "in-use", reason) }

    convenience init(_ error: TagError) {
        let step = Self.nextStep(after: error.code).map { " " + $0 } ?? ""
        let reason = error.reason + step
        switch error.code {
        case .readerUnavailable where error.link?.code == .inUse: self.init(.inUse(reason))
        // Only a reader that was there has a tag.
        case .readerUnavailable: self.init(.noReader, "reader-lost", reason)
        case .cancelled: self.init(.cancelled, error.code.description, reason)
        default: self.init(.refused, error.code.description, reason)
        }
    }

    /// The same failure.
    convenience init(_ other: CommandFailure) {
        self.init(other.status, other.name, other.message, offset: other.offset, tag: other.tag)
    }

    /// A message that is none.
    convenience init(_ error: NDEFError) {
        self.init(.refused, error.code.description, error.reason, offset: error.offset)
    }

    /// Input that means nothing.
    convenience init(_ error: InputError) {
        self.init(.refused, error.name, error.message)
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
        case .keyNeeded: "Use a program that knows the card's key."
        case .refused, .updateFailed, .badAnswer: "Try again; a tag that goes on like this is worn."
        default: nil
        }
    }
}
