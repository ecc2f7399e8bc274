// SPDX-License-Identifier: Apache-2.0
public import Foundation
import NFCSessions
import TagProtocols

/// A MIFARE card: Ultralight, NTAG, Plus or DESFire. MIFARE Classic is never detected, as on a phone.
///
/// Connect the session to the tag before a command. Completion handlers are called once, on the session's queue.
public protocol NFCMiFareTag: NFCNDEFTag, __NFCTag {
    /// The family of the card.
    var mifareFamily: NFCMiFareFamily { get }

    /// The UID: 4, 7 or 10 bytes. Empty if the reader does not report it.
    var identifier: Data { get }

    /// The historical bytes of the answer to select; nil for a card without historical bytes, such as an Ultralight.
    var historicalBytes: Data? { get }

    /// Sends a native command of the card.
    ///
    /// For an Ultralight or NTAG, pass the command without its checksum: `[0x30, 4]` reads four pages from page 4. A
    /// four-bit answer is returned as one byte: `0x0A` means that a write succeeded.
    ///
    /// The answer of a Plus or DESFire begins with its status. If the status is `AF`, the app has to request the
    /// remaining frames.
    ///
    /// - Parameters:
    ///   - command: the command's bytes.
    ///   - completionHandler: called with the answer, or an ``NFCReaderError`` as for an APDU.
    @preconcurrency
    func sendMiFareCommand(
        commandPacket command: Data,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    )

    /// Sends an ISO/IEC 7816-4 command to a Plus or DESFire.
    ///
    /// - Parameters:
    ///   - apdu: the command.
    ///   - completionHandler: called with the data and the status word of the answer, or an ``NFCReaderError`` as for
    ///     ``NFCISO7816Tag/sendCommand(apdu:completionHandler:)``; `readerErrorUnsupportedFeature` for an Ultralight.
    @preconcurrency
    func sendMiFareISO7816Command(
        _ apdu: NFCISO7816APDU,
        completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
    )
}

/// The family of a MIFARE card.
public enum NFCMiFareFamily: UInt, Sendable {
    /// A card that is compatible with ISO/IEC 14443-3A, of an unknown family.
    case unknown = 1
    /// MIFARE Ultralight, and NTAG.
    case ultralight = 2
    /// MIFARE Plus.
    case plus = 3
    /// MIFARE DESFire.
    case desfire = 4
}

// The other forms are extensions, not requirements, because clients write their own tag classes.
extension NFCMiFareTag {
    /// ``sendMiFareCommand(commandPacket:completionHandler:)`` with a `Result`.
    @preconcurrency
    public func sendMiFareCommand(
        commandPacket command: Data,
        resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        sendMiFareCommand(commandPacket: command) { resultHandler(Result($0, $1)) }
    }

    /// The asynchronous form of ``sendMiFareCommand(commandPacket:completionHandler:)``.
    public func sendMiFareCommand(commandPacket command: Data) async throws -> Data {
        try await withCompletion { sendMiFareCommand(commandPacket: command, completionHandler: $0) }
    }

    /// ``sendMiFareISO7816Command(_:completionHandler:)`` with a `Result`.
    @preconcurrency
    public func sendMiFareISO7816Command(
        _ apdu: NFCISO7816APDU,
        resultHandler: @escaping @Sendable (Result<NFCISO7816ResponseAPDU, any Error>) -> Void
    ) {
        sendMiFareISO7816Command(apdu) {
            resultHandler(Result(NFCISO7816ResponseAPDU(statusWord1: $1, statusWord2: $2, payload: $0), $3))
        }
    }

    /// The asynchronous form of ``sendMiFareISO7816Command(_:completionHandler:)``.
    ///
    /// - Returns: the data and the status word of the answer.
    public func sendMiFareISO7816Command(_ apdu: NFCISO7816APDU) async throws -> (Data, UInt8, UInt8) {
        try await withCompletion { sendMiFareISO7816Command(apdu, completionHandler: $0) }
    }

    /// The asynchronous form of ``sendMiFareISO7816Command(_:completionHandler:)``.
    @_disfavoredOverload
    public func sendMiFareISO7816Command(_ apdu: NFCISO7816APDU) async throws -> NFCISO7816ResponseAPDU {
        let (data, sw1, sw2): (Data, UInt8, UInt8) = try await sendMiFareISO7816Command(apdu)
        return NFCISO7816ResponseAPDU(statusWord1: sw1, statusWord2: sw2, payload: data.isEmpty ? nil : data)
    }
}

final class DetectedMiFareTag: TagObject, NFCMiFareTag, @unchecked Sendable {
    /// The maximum number of bytes in a command, without the checksum.
    private static let maximumLength = 253

    override var kind: String { "NFCMiFareTag" }
    var type: __NFCTagType { .miFare }
    var identifier: Data { Data(handle.target.identifier) }

    var mifareFamily: NFCMiFareFamily {
        guard case .nfcA(let target) = handle.target else { return .unknown }
        if target.isISODEP, MIFAREFamily.isPlus(historicalBytes ?? Data()) { return .plus }
        guard target.isNXP else { return .unknown }
        return target.isISODEP ? .desfire : .ultralight
    }

    func sendMiFareCommand(
        commandPacket command: Data,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    ) {
        exchange(
            try Self.packet(command),
            or: Data(),
            decode: { Data($0) },
            completion: completionHandler
        )
    }

    private static func packet(_ command: Data) throws -> [UInt8] {
        guard !command.isEmpty else {
            throw NFCReaderError(.readerErrorInvalidParameterLength, reason: "The command is empty.")
        }
        guard command.count <= maximumLength else {
            throw NFCReaderError(
                .readerTransceiveErrorPacketTooLong,
                reason: "A command has at most \(maximumLength) bytes."
            )
        }
        return [UInt8](command)
    }

    func sendMiFareISO7816Command(
        _ apdu: NFCISO7816APDU,
        completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
    ) {
        transmit(apdu, connecting: .never, completion: completionHandler)
    }
}
