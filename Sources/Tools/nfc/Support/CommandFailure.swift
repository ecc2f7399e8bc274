// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import LinuxSupport
import NDEF
import NFCReaders
import NFCSessions
import ReaderEmulation
import TagImages
import TagLink
import TagProtocols
import TagTrace
import TextSafety
import UserBus

/// Why a command failed. ``NFCCommand`` prints the failure, as JSON with `--json` or else as a sentence.
struct CommandFailure: Error {
    enum Status: Int32 {
        case refused = 1
        case usage = 2
        case noReader = 3
        case cancelled = 130
    }

    let status: Status
    let name: String
    /// Sentences that say what happened and what to do next.
    let message: String
    /// The position of the error: a byte of a message, a character of a line, or a record; nil for other failures.
    let offset: Int?
    /// The report on the tag that refused the command; nil if there is none.
    private(set) var tag: TagReport?
    /// Whether the command uses a reader, and the reader's name if there is one.
    private var reader: (isUsed: Bool, name: String?) = (false, nil)

    init(_ status: Status, _ name: String, _ message: String, offset: Int? = nil) {
        self.status = status
        self.name = name
        self.message = message
        self.offset = offset
    }

    init(_ name: String, _ message: String, offset: Int? = nil) {
        self.init(.refused, name, message, offset: offset)
    }

    func of(_ tag: TagReport) -> CommandFailure {
        var failure = self
        failure.tag = tag
        return failure
    }

    /// Returns this failure with the name of the reader; nil if there is none.
    func on(_ reader: String?) -> CommandFailure {
        var failure = self
        failure.reader = (true, reader)
        return failure
    }

    var object: JSONObject {
        var object: JSONObject = ["ok": false, "error": name]
        if let offset { object.append("offset", offset) }
        object.append("message", message)
        return object + (tag?.object ?? (reader.isUsed ? ["reader": reader.name] : [:]))
    }

    func print(json: Bool) {
        guard !json else { return object.print() }
        for line in tag?.lines ?? [] { printLine(line, beside: tag?.out) }
        StandardError.writeLine("Error: \(message)")
    }

    /// Prints the failure instead of a line's result, as JSON or as a sentence on standard error.
    func print(json: Bool, line: Int) {
        if json { object.print() } else { StandardError.writeLine("Line \(line): \(message) (\(name))") }
    }
}

extension CommandFailure {
    /// Creates a failure for an error from a command's work; nil for other errors, such as invalid arguments.
    init?(reporting error: any Error) {
        switch error {
        case let error as CommandFailure: self = error
        case let error as TagError: self.init(error)
        case let error as CommandError: self.init(error)
        case let error as NDEFError: self.init(error)
        case let error as TagImageError: self.init(error.code.description, error.reason)
        case let error as TagFileError: self.init(error.code.description, error.reason)
        case let error as RecordingError: self.init(error.code.description, error.reason)
        case let error as AssociationFileOptions.Problem: self.init(error.name, error.message)
        case let error as StorageError: self.init("storage", error.reason)
        case let error as CryptographyError: self.init("unsupported", error.reason)
        case let error as BusError: self.init("no-bus", error.reason)
        case let error as EmulationError: self.init(.noReader, "no-reader", error.reason)
        default: return nil
        }
    }

    /// Creates the failure for an unusable reader: `reader-lost` if it worked before, otherwise `no-reader`.
    static func unusable(_ driver: (any ReaderDriver)?, _ reason: String) -> CommandFailure {
        CommandFailure(.noReader, driver?.wasAvailable == true ? "reader-lost" : "no-reader", reason)
    }

    static func inUse(_ reason: String) -> CommandFailure { CommandFailure("in-use", reason) }

    init(_ error: TagError) {
        let reason = error.reason + (Self.nextStep(after: error.code).map { " " + $0 } ?? "")
        switch error.code {
        case .readerUnavailable where error.link?.code == .inUse: self = .inUse(reason)
        // The reader has found a tag, so it worked before.
        case .readerUnavailable: self.init(.noReader, "reader-lost", reason)
        case .cancelled: self.init(.cancelled, error.code.description, reason)
        default: self.init(error.code.description, reason)
        }
    }

    init(_ error: CommandError) {
        switch error {
        case .tag(let error): self.init(error)
        case .sessionInvalidated: self.init(Self.cutOff, "The session ended too early.")
        case .notConnected, .tagUnavailable, .connectionExpired:
            self.init("tag-lost", "The tag was removed too early. Hold it still and try again.")
        }
    }

    private static let cutOff = "session-ended"

    /// Whether the end of the session interrupted the work on a tag.
    var isCutOff: Bool { name == Self.cutOff }

    /// Creates the failure for a session's end; nil if the session ended normally.
    init?(_ end: SessionEnd, after visit: TagVisit, on driver: (any ReaderDriver)?) {
        switch end {
        case .firstMessageRead: return nil
        case .userCanceled, .appInBackground: self.init(.cancelled, "cancelled", "Cancelled.")
        case .timeout where visit == .used: return nil
        case .timeout where visit == .failed:
            let message =
                "A tag was found, but could not be used in time. Try again, or use another tag."
            self.init("timeout", message)
        case .timeout: self.init("timeout", "No tag was found in time. Hold one near the reader and try again.")
        case .systemBusy: self.init("busy", "The reader is busy. Wait a moment and try again.")
        case .radioDisabled: self.init("radio-disabled", "The radio of the phone is off. Switch it on and try again.")
        case .terminatedUnexpectedly(let reason): self = .unusable(driver, reason)
        case .unsupported(let reason): self.init(.noReader, "unsupported", reason)
        }
    }

    init(_ error: NDEFError) { self.init(error.code.description, error.reason, offset: error.offset) }

    /// Creates the failure for a failed write. If the tag may be partly written or locked, the message explains what
    /// the tag may now contain.
    init(_ failure: TagWriteFailure) {
        let error = failure.error
        guard failure.isContentUnknown else {
            let loss = error.code == .updateFailed ? Self.loss(in: failure.step) : ""
            self.init(TagError(error.code, error.reason + loss, link: error.link))
            return
        }
        let plain = CommandFailure(error)
        self.init(plain.status, plain.name, error.reason + " " + Self.doubt(in: failure.step))
    }

    /// Explains what may be lost on a tag that refused part of a step.
    private static func loss(in step: TagWriteFailure.Step) -> String {
        switch step {
        case .writing: " The message that was on the tag may be gone."
        case .checking: ""
        case .locking: " The message was written. " + partlyLocked
        }
    }

    /// Explains what a tag may contain if it left during a step.
    private static func doubt(in step: TagWriteFailure.Step) -> String {
        switch step {
        case .writing:
            """
            The tag may now hold the old message, no message, the new one, or an invalid part. Hold it near \
            the reader and write it again to repair it.
            """
        case .checking:
            """
            The message was written but not verified. Hold the tag near the reader again, and check it with: nfc tag \
            read
            """
        case .locking: "The message was written. \(partlyLocked) \(checkLocks)"
        }
    }

    private static let partlyLocked = "The tag may be read-only: fully, partly, or not at all."
    private static let checkLocks = "Hold it near the reader again, and check it with: nfc tag info"

    private static func nextStep(after code: TagError.Code) -> String? {
        switch code {
        case .tagLost: "Hold the tag still and try again."
        case .noCapabilityContainer, .badVersion, .noMessageTLV, .badChecksum:
            "To format a blank tag: nfc tag format. Or use one that is formatted for NDEF."
        case .lengthOverrun: "To erase it: nfc tag wipe. Or use another tag."
        case .writeInProgress: "Write the tag again, or use another one."
        case .readOnly: "Use another tag."
        case .messageTooLong: "Use a shorter message, or a tag with more memory."
        case .readProtected, .keyNeeded:
            "For its password: --unlock of nfc tag. For its keys: nfc classic, nfc desfire or nfc ntag424 --help"
        case .refused, .updateFailed, .badAnswer: "Try again. If it happens again, the tag forbids it or is worn out."
        default: nil
        }
    }
}
