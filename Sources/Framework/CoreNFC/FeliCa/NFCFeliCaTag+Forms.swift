// SPDX-License-Identifier: Apache-2.0
public import Foundation

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
    /// - Returns: the two status flags, and the versions of the basic specification and of the options (empty
    ///   for what the card does not report).
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
