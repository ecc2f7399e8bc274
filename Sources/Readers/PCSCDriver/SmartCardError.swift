// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// A failed call to the PC/SC resource manager. Equal by code.
public struct SmartCardError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error code of the service or its library, such as 8010001D. More codes may be added.
    public struct Code: Sendable, Hashable, RawRepresentable {
        /// The number, as in `pcsclite.h`.
        public var rawValue: UInt32

        /// Creates a code from its number.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The library is not installed. Not a code of PC/SC.
        public static let libraryMissing = Code(rawValue: 1)
        /// The service's socket exists, but this user may not use it. Not a code of PC/SC.
        public static let socketForbidden = Code(rawValue: 2)
        /// SCARD_E_CANCELLED.
        public static let cancelled = Code(rawValue: 0x8010_0002)
        /// SCARD_E_INVALID_HANDLE. An open card gets it after a restart of the service.
        public static let invalidHandle = Code(rawValue: 0x8010_0003)
        /// SCARD_E_INVALID_PARAMETER.
        public static let invalidParameter = Code(rawValue: 0x8010_0004)
        /// SCARD_E_INSUFFICIENT_BUFFER.
        public static let insufficientBuffer = Code(rawValue: 0x8010_0008)
        /// SCARD_E_UNKNOWN_READER.
        public static let unknownReader = Code(rawValue: 0x8010_0009)
        /// SCARD_E_TIMEOUT.
        public static let timeout = Code(rawValue: 0x8010_000A)
        /// SCARD_E_SHARING_VIOLATION.
        public static let sharingViolation = Code(rawValue: 0x8010_000B)
        /// SCARD_E_NO_SMARTCARD.
        public static let noSmartcard = Code(rawValue: 0x8010_000C)
        /// SCARD_E_PROTO_MISMATCH.
        public static let protocolMismatch = Code(rawValue: 0x8010_000F)
        /// SCARD_E_INVALID_VALUE.
        public static let invalidValue = Code(rawValue: 0x8010_0011)
        /// SCARD_F_COMM_ERROR.
        public static let communicationError = Code(rawValue: 0x8010_0013)
        /// SCARD_E_NOT_TRANSACTED: the reader's driver could not do it.
        public static let notTransacted = Code(rawValue: 0x8010_0016)
        /// SCARD_E_READER_UNAVAILABLE.
        public static let readerUnavailable = Code(rawValue: 0x8010_0017)
        /// SCARD_E_NO_SERVICE.
        public static let noService = Code(rawValue: 0x8010_001D)
        /// SCARD_E_SERVICE_STOPPED.
        public static let serviceStopped = Code(rawValue: 0x8010_001E)
        /// SCARD_E_UNSUPPORTED_FEATURE, with the number of pcsc-lite.
        public static let unsupportedFeature = Code(rawValue: 0x8010_001F)
        /// SCARD_E_NO_READERS_AVAILABLE.
        public static let noReaders = Code(rawValue: 0x8010_002E)
        /// SCARD_W_UNRESPONSIVE_CARD.
        public static let unresponsiveCard = Code(rawValue: 0x8010_0066)
        /// SCARD_W_UNPOWERED_CARD.
        public static let unpoweredCard = Code(rawValue: 0x8010_0067)
        /// SCARD_W_RESET_CARD.
        public static let resetCard = Code(rawValue: 0x8010_0068)
        /// SCARD_W_REMOVED_CARD.
        public static let removedCard = Code(rawValue: 0x8010_0069)
        /// SCARD_W_SECURITY_VIOLATION. polkit refuses access with it.
        public static let securityViolation = Code(rawValue: 0x8010_006A)
    }

    /// The error code of the service.
    public var code: Code
    /// The call, such as `SCardConnect`.
    public var call: String

    package init(_ code: Code, _ call: String) {
        self.code = code
        self.call = call
    }

    public static func == (lhs: SmartCardError, rhs: SmartCardError) -> Bool { lhs.code == rhs.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    public var description: String { "\(call): \(reason)" }

    /// Whether the connection to the service is lost, or was never made.
    var isServiceLost: Bool {
        [
            .noService, .serviceStopped, .communicationError, .invalidHandle, .libraryMissing, .socketForbidden,
            .securityViolation,
        ].contains(code)
    }

    /// Whether the connection of the call can't be used any more: it was lost, or was cut to end the call.
    var isConnectionLost: Bool { isServiceLost || code == .timeout || code == .cancelled }

    /// What happened and what to do, as a sentence for people.
    public var reason: String {
        switch code {
        case .libraryMissing:
            """
            PC/SC readers need the library libpcsclite.so.1, which is not installed. Install it with: apt-get install \
            pcscd libpcsclite1
            """
        case .socketForbidden:
            """
            This user may not use the PC/SC service's socket. Let its group have it, or run as a user who may: see the \
            owner of /run/pcscd/pcscd.comm.
            """
        case .noService, .serviceStopped, .communicationError, .invalidHandle:
            """
            The PC/SC service pcscd does not run. Start it with: systemctl start pcscd.socket (install it with: apt-get \
            install pcscd)
            """
        case .securityViolation:
            """
            The PC/SC service refuses this user. Let polkit grant org.debian.pcsc-lite.access_pcsc and \
            org.debian.pcsc-lite.access_card to the user or a group, in a rule under /etc/polkit-1/rules.d.
            """
        case .noReaders:
            "No PC/SC reader is connected. Plug one in; a USB reader needs its driver, mostly: apt-get install libccid"
        case .sharingViolation:
            """
            The card is in use by another program. Close that program and try again; scdaemon of GnuPG, browsers with \
            smart card modules and pcsc_scan are known for it.
            """
        case .unknownReader, .readerUnavailable: "The reader is gone. Plug it in again."
        case .noSmartcard, .removedCard: "The tag left the field."
        case .resetCard: "Another program has reset the tag."
        case .unresponsiveCard, .unpoweredCard: "The tag does not answer to the reader."
        case .notTransacted: "The reader could not exchange anything with the tag."
        case .timeout:
            """
            The PC/SC service pcscd did not answer in time. When that happens again, restart it with: systemctl restart \
            pcscd
            """
        case .cancelled: "The wait was cancelled."
        case .unsupportedFeature: "The reader's driver does not support this request."
        case .protocolMismatch: "The card speaks a protocol that the reader does not."
        case .invalidParameter, .invalidValue, .insufficientBuffer:
            "The reader's driver does not accept a command of this length."
        default: "The PC/SC service answered \(String(code.rawValue, radix: 16))."
        }
    }
}

extension LinkError {
    /// Converts the error of a failed call to the error of an exchange.
    package init(_ error: SmartCardError) {
        let code: Code =
            switch error.code {
            case .noSmartcard, .removedCard, .resetCard, .unpoweredCard: .tagRemoved
            // The reader's driver does not distinguish silence from noise. When the tag is asked again, it shows which
            // one it was.
            case .unresponsiveCard, .notTransacted: .timeout
            case .cancelled: .cancelled
            case .sharingViolation: .inUse
            case .unsupportedFeature: .unsupported
            case .invalidParameter, .invalidValue, .insufficientBuffer: .frameTooLong
            default: .readerUnavailable
            }
        self.init(code, error.reason)
    }
}
