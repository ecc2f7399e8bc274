// SPDX-License-Identifier: Apache-2.0
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
