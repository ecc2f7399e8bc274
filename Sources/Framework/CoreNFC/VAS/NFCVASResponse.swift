// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What a phone answered to one configuration of a value added service (VAS) session.
public class NFCVASResponse: NSObject, NSCopying {
    /// The status word of the answer.
    public enum ErrorCode: Int, Sendable {
        /// The phone has the pass, or took the URL.
        case success = 0x9000
        /// The phone does not have the pass.
        case dataNotFound = 0x6A83
        /// The phone has the pass, but the pass is not active.
        case dataNotActivated = 0x6287
        /// The parameters of the command are wrong.
        case wrongParameters = 0x6B00
        /// The length of the command is wrong.
        case wrongLCField = 0x6700
        /// The user has to do something first.
        case userIntervention = 0x6984
        /// The data of the command are wrong.
        case incorrectData = 0x6A80
        /// The phone does not support this version of VAS.
        case unsupportedApplicationVersion = 0x6340

        /// The phone has the pass, or took the URL.
        @available(*, deprecated, renamed: "success")
        public static var VASErrorCodeSuccess: ErrorCode { .success }
        /// The phone does not have the pass.
        @available(*, deprecated, renamed: "dataNotFound")
        public static var VASErrorCodeDataNotFound: ErrorCode { .dataNotFound }
        /// The phone has the pass, but the pass is not active.
        @available(*, deprecated, renamed: "dataNotActivated")
        public static var VASErrorCodeDataNotActivated: ErrorCode { .dataNotActivated }
        /// The parameters of the command are wrong.
        @available(*, deprecated, renamed: "wrongParameters")
        public static var VASErrorCodeWrongParameters: ErrorCode { .wrongParameters }
        /// The length of the command is wrong.
        @available(*, deprecated, renamed: "wrongLCField")
        public static var VASErrorCodeWrongLCField: ErrorCode { .wrongLCField }
        /// The user has to do something first.
        @available(*, deprecated, renamed: "userIntervention")
        public static var VASErrorCodeUserIntervention: ErrorCode { .userIntervention }
        /// The data of the command are wrong.
        @available(*, deprecated, renamed: "incorrectData")
        public static var VASErrorCodeIncorrectData: ErrorCode { .incorrectData }
        /// The phone does not support this version of VAS.
        @available(*, deprecated, renamed: "unsupportedApplicationVersion")
        public static var VASErrorCodeUnsupportedApplicationVersion: ErrorCode { .unsupportedApplicationVersion }
    }

    /// The status word of the answer.
    public let status: ErrorCode

    /// The encrypted data of the pass; empty for none.
    public let vasData: Data

    /// The token that identifies the phone; empty for none.
    public let mobileToken: Data

    package init(status: ErrorCode, vasData: Data, mobileToken: Data) {
        self.status = status
        self.vasData = vasData
        self.mobileToken = mobileToken
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The status word of an answer.
@available(*, deprecated, renamed: "NFCVASResponse.ErrorCode")
public typealias VASErrorCode = NFCVASResponse.ErrorCode
