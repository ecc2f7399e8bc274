// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import TagProtocols

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
