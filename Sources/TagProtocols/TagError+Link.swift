// SPDX-License-Identifier: Apache-2.0
package import TagLink

extension TagError {
    /// What an exchange's failure means for a procedure that does not try again.
    ///
    /// - Parameters:
    ///   - error: the failure.
    ///   - technology: in which the tag answered; nil behind ISO-DEP.
    init(link error: LinkError, over technology: Technology? = nil) {
        switch error.code {
        case .timeout, .tagRemoved: self.init(.tagLost, "The tag does not answer any more.", link: error)
        case .cancelled: self.init(.cancelled, "The operation was cancelled.", link: error)
        case .readerUnavailable: self.init(.readerUnavailable, error.reason, link: error)
        case .unsupported, .frameTooLong: self.init(.unsupported, error.reason, link: error)
        case .collision:
            let rule = Self.framingRule(technology)
            self.init(.badAnswer, "More than one tag answered at once (\(rule)).", link: error)
        // What broke a rule of a protocol says which; noise and parity are the link's to see, and the rule is known here.
        case .transmission:
            let reason = error.reason.hasSuffix(").") ? "" : " (\(Self.framingRule(technology)))"
            self.init(.badAnswer, Self.sentence(error.reason, adding: reason), link: error)
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

    /// The rules of frames, parity and checksum that a damaged answer breaks.
    static func framingRule(_ technology: Technology?) -> String {
        switch technology {
        case .nfcA: "ISO/IEC 14443-3, 6.2"
        case .nfcB: "ISO/IEC 14443-3, 7.1 and 7.2"
        case .nfcF: "NFC Forum Digital 2.3, 8.3 and 8.4"
        case .nfcV: "ISO/IEC 15693-3, 7"
        case nil: "ISO/IEC 14443-3, 6.2 and 7.2"
        }
    }

    private static func sentence(_ text: String, adding rule: String) -> String {
        rule.isEmpty ? text : (text.hasSuffix(".") ? String(text.dropLast()) : text) + rule + "."
    }
}
