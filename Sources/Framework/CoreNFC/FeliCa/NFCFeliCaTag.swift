// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A FeliCa card, found by one of the system codes that the app lists
/// (`com.apple.developer.nfc.readersession.felica.systemcodes` in the property list).
///
/// Connect the session to the tag before a command. Completion handlers are called once, on the session's queue, with
/// an ``NFCReaderError`` when the command failed: `readerTransceiveErrorTagNotConnected`,
/// `readerTransceiveErrorTagConnectionLost`, `readerTransceiveErrorTagResponseError` (with
/// ``NFCTagResponseUnexpectedLengthErrorKey`` for an answer of a wrong length),
/// `readerTransceiveErrorSessionInvalidated`, `readerErrorInvalidParameterLength`, `readerErrorInvalidParameter`, or
/// `readerErrorSecurityViolation` for a system code that is not listed.
public protocol NFCFeliCaTag: NFCNDEFTag, __NFCTag {
    /// The system code of the system that was selected last: two bytes, most significant first.
    var currentSystemCode: Data { get }

    /// The manufacture identifier (IDm) of the selected system: 8 bytes; empty when the selection failed.
    var currentIDm: Data { get }

    /// Selects one of the card's systems (Polling, 0x00), and updates ``currentIDm`` and ``currentSystemCode``.
    ///
    /// - Parameters:
    ///   - systemCode: the system code: two bytes, most significant first, neither of them `FF`. The app's property
    ///     list has to contain it.
    ///   - requestCode: the further data to request from the card.
    ///   - timeSlot: the number of time slots in which cards may answer.
    ///   - completionHandler: gets the manufacture parameter (PMm) and the requested data (empty for none).
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
    ///   - nodeCodeList: the nodes, 1 to 32: two bytes each, least significant first.
    ///   - completionHandler: gets the key version of each node. A key version has two bytes, least significant first;
    ///     it is `FFFF` for a node that the card does not have.
    @preconcurrency
    func requestService(nodeCodeList: [Data], completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void)

    /// Checks that the card is present, and returns its mode (Request Response, 0x04).
    ///
    /// - Parameter completionHandler: gets the mode (0 to 3).
    @preconcurrency
    func requestResponse(completionHandler: @escaping @Sendable (Int, (any Error)?) -> Void)

    /// Reads blocks of services that need no authentication (Read Without Encryption, 0x06). Check the status flags,
    /// because the call succeeds even if they report an error.
    ///
    /// - Parameters:
    ///   - serviceCodeList: the services, 1 to 16: two bytes each, least significant first.
    ///   - blockList: the block list elements, two or three bytes each.
    ///   - completionHandler: gets the two status flags and the blocks of 16 bytes (none when the first flag is not 0).
    @preconcurrency
    func readWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        completionHandler: @escaping @Sendable (Int, Int, [Data], (any Error)?) -> Void
    )

    /// Writes blocks of services that need no authentication (Write Without Encryption, 0x08). Check the status flags,
    /// because the call succeeds even if they report an error.
    ///
    /// - Parameters:
    ///   - serviceCodeList: the services, 1 to 16: two bytes each, least significant first.
    ///   - blockList: the block list elements, two or three bytes each.
    ///   - blockData: the blocks, 16 bytes each, one for each element of the list.
    ///   - completionHandler: gets the two status flags.
    @preconcurrency
    func writeWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        blockData: [Data],
        completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void
    )

    /// Requests the codes of the card's systems (Request System Code, 0x0C).
    ///
    /// - Parameter completionHandler: gets the system codes (two bytes each, most significant first).
    @preconcurrency
    func requestSystemCode(completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void)

    /// Asks a card with AES for the key versions of nodes (Request Service v2, 0x32).
    ///
    /// - Parameters:
    ///   - nodeCodeList: the nodes, 1 to 32: two bytes each, least significant first.
    ///   - completionHandler: gets the two status flags, the kind of encryption, and the key versions for AES and DES.
    @preconcurrency
    func requestServiceV2(
        nodeCodeList: [Data],
        completionHandler: @escaping @Sendable (Int, Int, NFCFeliCaEncryptionId, [Data], [Data], (any Error)?) -> Void
    )

    /// Asks for the version of the card's operating system (Request Specification Version, 0x3C).
    ///
    /// - Parameter completionHandler: gets the two status flags, and the versions of the basic specification and of the
    ///   options (empty if the card does not report them).
    @preconcurrency
    func requestSpecificationVersion(
        completionHandler: @escaping @Sendable (Int, Int, Data, Data, (any Error)?) -> Void
    )

    /// Sets the card's mode to 0 (Reset Mode, 0x3E).
    ///
    /// - Parameter completionHandler: gets the two status flags.
    @preconcurrency
    func resetMode(completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void)

    /// Sends a command that the caller has built.
    ///
    /// - Parameters:
    ///   - commandPacket: the packet, starting with the command code; at most 254 bytes. The framework adds the length
    ///     and the checksum.
    ///   - completionHandler: gets the answer, which begins with its length, as on a phone.
    @preconcurrency
    func sendFeliCaCommand(commandPacket: Data, completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void)
}

// These forms are extensions, not requirements, because clients write their own tag classes. The asynchronous forms
// throw the error of the completion handler; result handlers are called on the session's queue.
extension NFCFeliCaTag {
    /// The asynchronous form of ``polling(systemCode:requestCode:timeSlot:completionHandler:)``.
    ///
    /// - Returns: the manufacture parameter (PMm), and the requested data (empty for none).
    public func polling(
        systemCode: Data,
        requestCode: NFCFeliCaPollingRequestCode,
        timeSlot: NFCFeliCaPollingTimeSlot
    ) async throws -> (Data, Data) {
        try await withCompletion {
            polling(systemCode: systemCode, requestCode: requestCode, timeSlot: timeSlot, completionHandler: $0)
        }
    }

    /// The asynchronous form of ``requestService(nodeCodeList:completionHandler:)``.
    public func requestService(nodeCodeList: [Data]) async throws -> [Data] {
        try await withCompletion { requestService(nodeCodeList: nodeCodeList, completionHandler: $0) }
    }

    /// The asynchronous form of ``requestResponse(completionHandler:)``.
    public func requestResponse() async throws -> Int {
        try await withCompletion { requestResponse(completionHandler: $0) }
    }

    /// The asynchronous form of ``readWithoutEncryption(serviceCodeList:blockList:completionHandler:)``.
    ///
    /// - Returns: the two status flags, and the blocks of 16 bytes (none when the first flag is not 0).
    public func readWithoutEncryption(serviceCodeList: [Data], blockList: [Data]) async throws -> (Int, Int, [Data]) {
        try await withCompletion {
            readWithoutEncryption(serviceCodeList: serviceCodeList, blockList: blockList, completionHandler: $0)
        }
    }

    /// The asynchronous form of ``writeWithoutEncryption(serviceCodeList:blockList:blockData:completionHandler:)``.
    ///
    /// - Returns: the two status flags.
    public func writeWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        blockData: [Data]
    ) async throws -> (Int, Int) {
        try await withCompletion {
            writeWithoutEncryption(
                serviceCodeList: serviceCodeList,
                blockList: blockList,
                blockData: blockData,
                completionHandler: $0
            )
        }
    }

    /// The asynchronous form of ``requestSystemCode(completionHandler:)``.
    public func requestSystemCode() async throws -> [Data] {
        try await withCompletion { requestSystemCode(completionHandler: $0) }
    }

    /// The asynchronous form of ``requestServiceV2(nodeCodeList:completionHandler:)``.
    ///
    /// - Returns: the two status flags, the kind of encryption, and the key versions for AES and DES.
    public func requestServiceV2(
        nodeCodeList: [Data]
    ) async throws -> (Int, Int, NFCFeliCaEncryptionId, [Data], [Data]) {
        try await withCompletion { requestServiceV2(nodeCodeList: nodeCodeList, completionHandler: $0) }
    }

    /// The asynchronous form of ``requestSpecificationVersion(completionHandler:)``.
    ///
    /// - Returns: the two status flags, and the versions of the basic specification and of the options (empty if the
    ///   card does not report them).
    public func requestSpecificationVersion() async throws -> (Int, Int, Data, Data) {
        try await withCompletion { requestSpecificationVersion(completionHandler: $0) }
    }

    /// The asynchronous form of ``resetMode(completionHandler:)``.
    ///
    /// - Returns: the two status flags.
    public func resetMode() async throws -> (Int, Int) {
        try await withCompletion { resetMode(completionHandler: $0) }
    }

    /// The asynchronous form of ``sendFeliCaCommand(commandPacket:completionHandler:)``.
    public func sendFeliCaCommand(commandPacket: Data) async throws -> Data {
        try await withCompletion { sendFeliCaCommand(commandPacket: commandPacket, completionHandler: $0) }
    }

    // MARK: With a Result

    /// ``polling(systemCode:requestCode:timeSlot:completionHandler:)`` with a `Result`.
    @preconcurrency
    public func polling(
        systemCode: Data,
        requestCode: NFCFeliCaPollingRequestCode,
        timeSlot: NFCFeliCaPollingTimeSlot,
        resultHandler: @escaping @Sendable (Result<NFCFeliCaPollingResponse, any Error>) -> Void
    ) {
        polling(systemCode: systemCode, requestCode: requestCode, timeSlot: timeSlot) {
            resultHandler(
                Result(NFCFeliCaPollingResponse(manufactureParameter: $0, requestData: $1.isEmpty ? nil : $1), $2)
            )
        }
    }

    /// ``requestService(nodeCodeList:completionHandler:)`` with a `Result`.
    @preconcurrency
    public func requestService(
        nodeCodeList: [Data],
        resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
    ) {
        requestService(nodeCodeList: nodeCodeList) { resultHandler(Result($0, $1)) }
    }

    /// ``requestResponse(completionHandler:)`` with a `Result`.
    @preconcurrency
    public func requestResponse(resultHandler: @escaping @Sendable (Result<Int, any Error>) -> Void) {
        requestResponse { resultHandler(Result($0, $1)) }
    }

    /// ``readWithoutEncryption(serviceCodeList:blockList:completionHandler:)`` with a `Result`.
    @preconcurrency
    public func readWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        resultHandler: @escaping @Sendable (Result<(NFCFeliCaStatusFlag, [Data]), any Error>) -> Void
    ) {
        readWithoutEncryption(serviceCodeList: serviceCodeList, blockList: blockList) {
            resultHandler(Result((NFCFeliCaStatusFlag(statusFlag1: $0, statusFlag2: $1), $2), $3))
        }
    }

    /// ``writeWithoutEncryption(serviceCodeList:blockList:blockData:completionHandler:)`` with a `Result`.
    @preconcurrency
    public func writeWithoutEncryption(
        serviceCodeList: [Data],
        blockList: [Data],
        blockData: [Data],
        resultHandler: @escaping @Sendable (Result<NFCFeliCaStatusFlag, any Error>) -> Void
    ) {
        writeWithoutEncryption(serviceCodeList: serviceCodeList, blockList: blockList, blockData: blockData) {
            resultHandler(Result(NFCFeliCaStatusFlag(statusFlag1: $0, statusFlag2: $1), $2))
        }
    }

    /// ``requestSystemCode(completionHandler:)`` with a `Result`.
    @preconcurrency
    public func requestSystemCode(resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void) {
        requestSystemCode { resultHandler(Result($0, $1)) }
    }

    /// ``requestServiceV2(nodeCodeList:completionHandler:)`` with a `Result`.
    @preconcurrency
    public func requestServiceV2(
        nodeCodeList: [Data],
        resultHandler: @escaping @Sendable (Result<NFCFeliCaRequsetServiceV2Response, any Error>) -> Void
    ) {
        requestServiceV2(nodeCodeList: nodeCodeList) {
            resultHandler(
                Result(
                    NFCFeliCaRequsetServiceV2Response(
                        statusFlag1: $0,
                        statusFlag2: $1,
                        encryptionIdentifier: $2,
                        nodeKeyVersionListAES: $3,
                        nodeKeyVersionListDES: $4
                    ),
                    $5
                )
            )
        }
    }

    /// ``requestSpecificationVersion(completionHandler:)`` with a `Result`.
    @preconcurrency
    public func requestSpecificationVersion(
        resultHandler: @escaping @Sendable (Result<NFCFeliCaRequestSpecificationVersionResponse, any Error>) -> Void
    ) {
        requestSpecificationVersion {
            resultHandler(
                Result(
                    NFCFeliCaRequestSpecificationVersionResponse(
                        statusFlag1: $0,
                        statusFlag2: $1,
                        basicVersion: $2,
                        optionVersion: $3
                    ),
                    $4
                )
            )
        }
    }

    /// ``resetMode(completionHandler:)`` with a `Result`.
    @preconcurrency
    public func resetMode(resultHandler: @escaping @Sendable (Result<NFCFeliCaStatusFlag, any Error>) -> Void) {
        resetMode { resultHandler(Result(NFCFeliCaStatusFlag(statusFlag1: $0, statusFlag2: $1), $2)) }
    }

    /// ``sendFeliCaCommand(commandPacket:completionHandler:)`` with a `Result`.
    @preconcurrency
    public func sendFeliCaCommand(
        commandPacket: Data,
        resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        sendFeliCaCommand(commandPacket: commandPacket) { resultHandler(Result($0, $1)) }
    }
}
