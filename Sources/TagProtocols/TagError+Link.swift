// SPDX-License-Identifier: Apache-2.0
package import TagLink

extension TagError {
    /// What an exchange's failure means for a procedure that does not try again.
    init(link error: LinkError) {
        switch error.code {
        case .timeout, .tagRemoved: self.init(.tagLost, "The tag does not answer any more.", link: error)
        case .cancelled: self.init(.cancelled, "The operation was cancelled.", link: error)
        case .readerUnavailable: self.init(.readerUnavailable, error.reason, link: error)
        case .unsupported, .frameTooLong: self.init(.unsupported, error.reason, link: error)
        case .collision:
            self.init(.badAnswer, "More than one tag answered at once.", link: error)
        default: self.init(.badAnswer, error.reason, link: error)
        }
    }

    /// A failure after which trying again is pointless, or nil when `error` is not one.
    package init?(fatal error: LinkError) {
        switch error.code {
        case .timeout, .transmission, .collision: return nil
        default: self.init(link: error)
        }
    }
}
