// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A FeliCa card, found by one of the system codes of the app's list
/// (`com.apple.developer.nfc.readersession.felica.systemcodes` in the property list).
///
/// Connect the session to the tag before a command. Completion handlers are called once, on the session's queue, with
/// an ``NFCReaderError`` when the command failed: `readerTransceiveErrorTagNotConnected`,
/// `readerTransceiveErrorTagConnectionLost`, `readerTransceiveErrorTagResponseError` (with
/// ``NFCTagResponseUnexpectedLengthErrorKey`` for an answer of a wrong length),
/// `readerTransceiveErrorSessionInvalidated`, `readerErrorInvalidParameterLength`, `readerErrorInvalidParameter`, or
/// `readerErrorSecurityViolation` for a system code that is not listed.
public protocol NFCFeliCaTag: NFCNDEFTag, __NFCTag {
    /// The system code of the system that was selected last: two octets, most significant first.
    var currentSystemCode: Data { get }

    /// The manufacture identifier (IDm) of that system: 8 octets; empty when selecting it failed.
    var currentIDm: Data { get }

    /// Selects a system of the card (Polling, 0x00). The card's ``currentIDm`` and ``currentSystemCode`` become those
    /// of that system.
    ///
    /// - Parameters:
    ///   - systemCode: the system code: two octets, most significant first, neither of them `FF`; one of the app's
    ///     list.
    ///   - requestCode: what else the card is asked for.
    ///   - timeSlot: how many time slots cards may answer in.
    ///   - completionHandler: called on the session's queue with the manufacture parameter (PMm), and what was asked
    ///     for or no octets and nil, or with an ``NFCReaderError``.
    @preconcurrency
    func polling(
        systemCode: Data,
        requestCode: NFCFeliCaPollingRequestCode,
        timeSlot: NFCFeliCaPollingTimeSlot,
        completionHandler: @escaping @Sendable (Data, Data, (any Error)?) -> Void
    )

    /// Asks for the key versions of nodes (Request Service, 0x02).
    ///
    /// - Parameters:
    ///   - nodeCodeList: the nodes, 1 to 32: two octets each, least significant first.
    ///   - completionHandler: called on the session's queue with the key version of each node: two octets, least
    ///     significant first, `FFFF` for a node that the card does not have and nil, or with an ``NFCReaderError``.
    @preconcurrency
    func requestService(nodeCodeList: [Data], completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void)

    /// Asks whether the card is there, and for its mode (Request Response, 0x04).
    ///
    /// - Parameter completionHandler: called on the session's queue with the mode, 0 to 3 and nil, or with an
    ///   ``NFCReaderError``.
    @preconcurrency
    func requestResponse(completionHandler: @escaping @Sendable (Int, (any Error)?) -> Void)

    /// Reads blocks of services that need no authentication (Read Without Encryption, 0x06). Status flags are the
    /// card's answer and no error: look at them.
    ///
    /// - Parameters:
    ///   - serviceCodeList: the services, 1 to 16: two octets each, least significant first.
    ///   - blockList: the block list elements, two or three octets each.
    ///   - completionHandler: called on the session's queue with the two status flags, and the blocks of 16 octets,
    ///     none when the first flag is not 0 and nil, or with an ``NFCReaderError``.
    @preconcurrency
    func readWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        completionHandler: @escaping @Sendable (Int, Int, [Data], (any Error)?) -> Void
    )

    /// Writes blocks of services that need no authentication (Write Without Encryption, 0x08). Status flags are the
    /// card's answer and no error: look at them.
    ///
    /// - Parameters:
    ///   - serviceCodeList: the services, 1 to 16: two octets each, least significant first.
    ///   - blockList: the block list elements, two or three octets each.
    ///   - blockData: the blocks, 16 octets each, as many as the list has elements.
    ///   - completionHandler: called on the session's queue with the two status flags and nil, or with an
    ///     ``NFCReaderError``.
    @preconcurrency
    func writeWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        blockData: [Data],
        completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void
    )

    /// Asks which systems the card has (Request System Code, 0x0C).
    ///
    /// - Parameter completionHandler: called on the session's queue with the system codes: two octets each, most
    ///   significant first and nil, or with an ``NFCReaderError``.
    @preconcurrency
    func requestSystemCode(completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void)

    /// Asks for the key versions of nodes of a card with AES (Request Service v2, 0x32).
    ///
    /// - Parameters:
    ///   - nodeCodeList: the nodes, 1 to 32: two octets each, least significant first.
    ///   - completionHandler: called on the session's queue with the two status flags, the kind of encryption, and the
    ///     key versions for AES and for DES and nil, or with an ``NFCReaderError``.
    @preconcurrency
    func requestServiceV2(
        nodeCodeList: [Data],
        completionHandler: @escaping @Sendable (Int, Int, NFCFeliCaEncryptionId, [Data], [Data], (any Error)?) -> Void
    )

    /// Asks for the version of the card's operating system (Request Specification Version, 0x3C).
    ///
    /// - Parameter completionHandler: called on the session's queue with the two status flags, the version of the basic
    ///   specification and those of options, no octets for what the card does not say and nil, or with an
    ///   ``NFCReaderError``.
    @preconcurrency
    func requestSpecificationVersion(
        completionHandler: @escaping @Sendable (Int, Int, Data, Data, (any Error)?) -> Void
    )

    /// Sets the card's mode to 0 (Reset Mode, 0x3E).
    ///
    /// - Parameter completionHandler: called on the session's queue with the two status flags and nil, or with an
    ///   ``NFCReaderError``.
    @preconcurrency
    func resetMode(completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void)

    /// Sends a command of the caller's own making.
    ///
    /// - Parameters:
    ///   - commandPacket: the packet from the command code on, at most 254 octets; its length and checksum are put in.
    ///   - completionHandler: called on the session's queue with the answer, which begins with its length as on a
    ///     phone and nil, or with an ``NFCReaderError``.
    @preconcurrency
    func sendFeliCaCommand(commandPacket: Data, completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void)
}
