// SPDX-License-Identifier: Apache-2.0
import NDEF
import TagLink
import TagProtocols
import Testing
import VirtualTags

@testable import NFCSessions  // errors are made here that only sessions make
@testable import nfc  // failures are internal

/// What becomes of the errors of tags, readers and sessions: a name, a status, and a sentence that says what to do.
struct CommandFailureTests {
    /// A reader that worked before.
    private let driver = VirtualField()

    private static let moved = "Hold the tag still and try again."
    private static let unformatted = "To format a blank tag: nfc tag format. Or use one that is formatted for NDEF."
    private static let torn = "Write the tag again, or use another one."
    private static let broken = "To erase it: nfc tag wipe. Or use another tag."
    private static let unlock =
        "For its password: --unlock of nfc tag. For its keys: nfc classic, nfc desfire or nfc ntag424 --help"
    private static let worn = "Try again. If it happens again, the tag forbids it or is worn out."

    @Test(
        arguments: [
            (.tagLost, "tag-lost", moved), (.noCapabilityContainer, "no-cc", unformatted),
            (.badVersion, "bad-version", unformatted), (.noMessageTLV, "no-ndef-tlv", unformatted),
            (.badChecksum, "bad-checksum", unformatted), (.lengthOverrun, "tlv-overrun", broken),
            (.writeInProgress, "write-in-progress", torn), (.readOnly, "read-only", "Use another tag."),
            (.readProtected, "read-protected", unlock),
            (.messageTooLong, "message-too-long", "Use a shorter message, or a tag with more memory."),
            (.keyNeeded, "key-needed", unlock), (.refused, "refused", worn), (.updateFailed, "update-failed", worn),
            (.badAnswer, "bad-answer", worn),
            (.unsupported, "unsupported", nil),
        ] as [(TagError.Code, String, String?)]
    )
    func `tag error: the failure has its name, and a next step where there is one`(
        code: TagError.Code,
        name: String,
        step: String?
    ) {
        let failure = CommandFailure(TagError(code, "It is so."))
        #expect(failure.status == .refused && failure.name == name)
        #expect(failure.message == "It is so." + (step.map { " " + $0 } ?? ""))
        #expect(failure.offset == nil)
    }

    @Test func `reader error: status 1 if the reader is in use, 3 if it is lost or was never usable`() {
        let inUse = CommandFailure(TagError(.readerUnavailable, "R.", link: LinkError(.inUse, "R.")))
        #expect(inUse.status == .refused && inUse.name == "in-use" && inUse.message == "R.")
        let gone = CommandFailure(TagError(.readerUnavailable, "R.", link: LinkError(.readerUnavailable, "R.")))
        #expect(gone.status == .noReader && gone.name == "reader-lost" && gone.message == "R.")
        let cancelled = CommandFailure(TagError(.cancelled, "C."))
        #expect(cancelled.status == .cancelled && cancelled.name == "cancelled")
        let never = CommandFailure.unusable(nil, "N.")
        #expect(never.status == .noReader && never.name == "no-reader" && never.message == "N.")
        #expect(CommandFailure.unusable(driver, "N.").name == "reader-lost")
    }

    @Test func `write that broke off: the message says what may be on the tag after that step and error`() {
        func message(_ step: TagWriteFailure.Step, _ code: TagError.Code) -> String {
            CommandFailure(TagWriteFailure(step: step, error: TagError(code, "It left."))).message
        }
        for code in [TagError.Code.tagLost, .readerUnavailable, .cancelled] {
            #expect(message(.writing, code).hasPrefix("It left. The tag may now hold"))
            #expect(message(.checking, code).hasPrefix("It left. The message was written but not verified."))
            #expect(message(.locking, code).hasPrefix("It left. The message was written. The tag may be read-only"))
        }
        for step in [TagWriteFailure.Step.writing, .checking, .locking] {
            #expect(message(step, .readOnly) == "It left. Use another tag.")
        }
        // A part of it may have been done.
        let gone = "The message that was on the tag may be gone."
        let partly = "The message was written. The tag may be read-only: fully, partly, or not at all."
        #expect(message(.writing, .updateFailed) == "It left. \(gone) \(Self.worn)")
        #expect(message(.locking, .updateFailed) == "It left. \(partly) \(Self.worn)")
        #expect(message(.checking, .updateFailed) == "It left. \(Self.worn)")
        let failure = CommandFailure(TagWriteFailure(step: .writing, error: TagError(.tagLost, "It left.")))
        #expect(failure.status == .refused && failure.name == "tag-lost")
    }

    @Test func `NDEF error: the failure has its name and its offset`() throws {
        do throws(NDEFError) {
            _ = try NDEFMessage(decoding: [0xD1, 0x01])
            Issue.record("It was decoded.")
        } catch {
            let failure = CommandFailure(error)
            #expect(failure.status == .refused && failure.name == "truncated-header" && failure.offset == 2)
        }
    }

    // MARK: Sessions

    @Test func `end of a session: a failure with status, name and reason, and none if the session's work was done`()
        throws
    {
        #expect(CommandFailure(SessionEnd.firstMessageRead, after: .none, on: nil)?.name == nil)
        #expect(CommandFailure(SessionEnd.timeout, after: .used, on: nil)?.name == nil)
        for (end, visit, status, name, start) in [
            (.userCanceled, .used, .cancelled, "cancelled", "Cancelled."),
            (.appInBackground, .none, .cancelled, "cancelled", "Cancelled."),
            (.timeout, .none, .refused, "timeout", "No tag was found in time."),
            (.timeout, .failed, .refused, "timeout", "A tag was found, but could not be used"),
            (.systemBusy, .none, .refused, "busy", "The reader is busy."),
            (.radioDisabled, .none, .refused, "radio-disabled", "The radio of the phone is off."),
            (.terminatedUnexpectedly(reason: "R."), .none, .noReader, "no-reader", "R."),
            (.unsupported(reason: "U."), .none, .noReader, "unsupported", "U."),
        ] as [(SessionEnd, TagVisit, CommandFailure.Status, String, String)] {
            let failure = try #require(CommandFailure(end, after: visit, on: nil), "\(end)")
            #expect(failure.status == status && failure.name == name, "\(end)")
            #expect(failure.message.hasPrefix(start), "\(failure.message)")
            #expect(!failure.isCutOff)
        }
        let lost = CommandFailure(SessionEnd.terminatedUnexpectedly(reason: "R."), after: .none, on: driver)
        #expect(lost?.name == "reader-lost")
    }

    @Test func `command cut off by the end of its session: marked as such, other command errors are not`() {
        let ended = CommandFailure(CommandError.sessionInvalidated)
        #expect(ended.isCutOff && ended.status == .refused && ended.name == "session-ended")
        for error in [CommandError.notConnected, .tagUnavailable] {
            let failure = CommandFailure(error)
            #expect(!failure.isCutOff && failure.status == .refused && failure.name == "tag-lost")
        }
        #expect(CommandFailure(CommandError.tag(TagError(.readOnly, "It is."))).name == "read-only")
    }
}
