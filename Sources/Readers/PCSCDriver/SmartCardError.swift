// SPDX-License-Identifier: Apache-2.0
package import TagLink

/// A failed call to the PC/SC resource manager. Two errors with the same code are equal.
package struct SmartCardError: Error, Sendable, Hashable, CustomStringConvertible {
    /// An error code of the service or its library: SCARD_E_… or SCARD_W_… in `pcsclite.h`.
    package struct Code: Sendable, Hashable, RawRepresentable {
        package var rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The library is not installed. This is not a PC/SC code.
        package static let libraryMissing = Code(rawValue: 1)
        /// The service's socket exists, but this user may not use it. This is not a PC/SC code.
        package static let socketForbidden = Code(rawValue: 2)
        package static let cancelled = Code(rawValue: 0x8010_0002)
        /// Reported for an open card after the service has restarted.
        package static let invalidHandle = Code(rawValue: 0x8010_0003)
        package static let invalidParameter = Code(rawValue: 0x8010_0004)
        package static let insufficientBuffer = Code(rawValue: 0x8010_0008)
        package static let unknownReader = Code(rawValue: 0x8010_0009)
        package static let timeout = Code(rawValue: 0x8010_000A)
        package static let sharingViolation = Code(rawValue: 0x8010_000B)
        package static let noSmartcard = Code(rawValue: 0x8010_000C)
        package static let protocolMismatch = Code(rawValue: 0x8010_000F)
        package static let invalidValue = Code(rawValue: 0x8010_0011)
        package static let communicationError = Code(rawValue: 0x8010_0013)
        /// The reader's driver failed to perform the operation.
        package static let notTransacted = Code(rawValue: 0x8010_0016)
        package static let readerUnavailable = Code(rawValue: 0x8010_0017)
        package static let noService = Code(rawValue: 0x8010_001D)
        package static let serviceStopped = Code(rawValue: 0x8010_001E)
        /// This is the number in pcsc-lite, which differs from Microsoft's.
        package static let unsupportedFeature = Code(rawValue: 0x8010_001F)
        package static let noReaders = Code(rawValue: 0x8010_002E)
        package static let unresponsiveCard = Code(rawValue: 0x8010_0066)
        package static let unpoweredCard = Code(rawValue: 0x8010_0067)
        package static let resetCard = Code(rawValue: 0x8010_0068)
        package static let removedCard = Code(rawValue: 0x8010_0069)
        /// Reported when polkit denies access.
        package static let securityViolation = Code(rawValue: 0x8010_006A)
    }

    package var code: Code
    /// The name of the call, such as `SCardConnect`.
    package var call: String

    package init(_ code: Code, _ call: String) {
        self.code = code
        self.call = call
    }

    package static func == (lhs: SmartCardError, rhs: SmartCardError) -> Bool { lhs.code == rhs.code }

    package func hash(into hasher: inout Hasher) { hasher.combine(code) }

    package var description: String { "\(call): \(reason)" }

    /// Whether the connection to the service was lost, or could not be opened.
    var isServiceLost: Bool {
        [
            .noService, .serviceStopped, .communicationError, .invalidHandle, .libraryMissing, .socketForbidden,
            .securityViolation,
        ].contains(code)
    }

    /// Whether the call's connection can't be used any more: it was lost, or was cut to end the call.
    var isConnectionLost: Bool { isServiceLost || code == .timeout || code == .cancelled }

    /// A sentence for people that explains what happened and what to do.
    package var reason: String {
        switch code {
        case .libraryMissing:
            """
            PC/SC readers need the library libpcsclite.so.1, which is not installed. Install it with: apt-get install \
            pcscd libpcsclite1
            """
        case .socketForbidden:
            """
            This user has no access to the PC/SC service's socket. Give access to the user's group, or run as a user \
            who has access: see the owner of /run/pcscd/pcscd.comm.
            """
        case .noService, .serviceStopped, .communicationError, .invalidHandle:
            """
            The PC/SC service pcscd is not running. Start it with: systemctl start pcscd.socket (install it with: apt-get \
            install pcscd)
            """
        case .securityViolation:
            """
            The PC/SC service refuses this user. Let polkit grant org.debian.pcsc-lite.access_pcsc and \
            org.debian.pcsc-lite.access_card to the user or a group, in a rule under /etc/polkit-1/rules.d.
            """
        case .noReaders:
            "No PC/SC reader is connected. Plug one in. A USB reader needs a driver, usually: apt-get install libccid"
        case .sharingViolation:
            """
            The card is in use by another program. Close that program and try again; scdaemon of GnuPG, browsers with \
            smart card modules and pcsc_scan are known to do this.
            """
        case .unknownReader, .readerUnavailable: "The reader is gone. Plug it in again."
        case .noSmartcard, .removedCard: "The tag left the field."
        case .resetCard: "Another program has reset the tag."
        case .unresponsiveCard, .unpoweredCard: "The tag does not answer the reader."
        case .notTransacted: "The reader could not communicate with the tag."
        case .timeout:
            """
            The PC/SC service pcscd did not answer in time. If it happens again, restart it with: systemctl restart \
            pcscd
            """
        case .cancelled: "The wait was cancelled."
        case .unsupportedFeature: "The reader's driver does not support this request."
        case .protocolMismatch: "The card uses a protocol that the reader does not support."
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
            // The reader's driver does not distinguish silence from a damaged answer. The next exchange with the tag
            // shows which it was.
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
