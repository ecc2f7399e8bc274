// SPDX-License-Identifier: Apache-2.0
public import Foundation

// These forms are extensions, not requirements, because clients write their own tag classes. The asynchronous forms
// throw the error of the completion handler; result handlers are called on the session's queue.
extension NFCISO15693Tag {
    /// The asynchronous form of ``sendCustomCommand(commandConfiguration:completionHandler:)``.
    public func sendCustomCommand(commandConfiguration: NFCISO15693CustomCommandConfiguration) async throws -> Data {
        try await withCompletion {
            sendCustomCommand(commandConfiguration: commandConfiguration, completionHandler: $0)
        }
    }

    /// The asynchronous form of ``readMultipleBlock(readConfiguration:completionHandler:)``.
    public func readMultipleBlock(readConfiguration: NFCISO15693ReadMultipleBlocksConfiguration) async throws -> Data {
        try await withCompletion { readMultipleBlock(readConfiguration: readConfiguration, completionHandler: $0) }
    }

    /// The asynchronous form of ``stayQuiet(completionHandler:)``.
    public func stayQuiet() async throws {
        try await withCompletion { stayQuiet(completionHandler: $0) }
    }

    /// The asynchronous form of ``readSingleBlock(requestFlags:blockNumber:completionHandler:)``.
    public func readSingleBlock(requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8) async throws -> Data {
        try await withCompletion {
            readSingleBlock(requestFlags: flags, blockNumber: blockNumber, completionHandler: $0)
        }
    }

    /// The asynchronous form of ``writeSingleBlock(requestFlags:blockNumber:dataBlock:completionHandler:)``.
    public func writeSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        dataBlock: Data
    ) async throws {
        try await withCompletion {
            writeSingleBlock(requestFlags: flags, blockNumber: blockNumber, dataBlock: dataBlock, completionHandler: $0)
        }
    }

    /// The asynchronous form of ``lockBlock(requestFlags:blockNumber:completionHandler:)``.
    public func lockBlock(requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8) async throws {
        try await withCompletion { lockBlock(requestFlags: flags, blockNumber: blockNumber, completionHandler: $0) }
    }

    /// The asynchronous form of ``readMultipleBlocks(requestFlags:blockRange:completionHandler:)``.
    public func readMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange
    ) async throws -> [Data] {
        try await withCompletion {
            readMultipleBlocks(requestFlags: flags, blockRange: blockRange, completionHandler: $0)
        }
    }

    /// The asynchronous form of ``writeMultipleBlocks(requestFlags:blockRange:dataBlocks:completionHandler:)``.
    public func writeMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        dataBlocks: [Data]
    ) async throws {
        try await withCompletion {
            writeMultipleBlocks(
                requestFlags: flags,
                blockRange: blockRange,
                dataBlocks: dataBlocks,
                completionHandler: $0
            )
        }
    }

    /// The asynchronous form of ``select(requestFlags:completionHandler:)``.
    public func select(requestFlags flags: NFCISO15693RequestFlag) async throws {
        try await withCompletion { select(requestFlags: flags, completionHandler: $0) }
    }

    /// The asynchronous form of ``resetToReady(requestFlags:completionHandler:)``.
    public func resetToReady(requestFlags flags: NFCISO15693RequestFlag) async throws {
        try await withCompletion { resetToReady(requestFlags: flags, completionHandler: $0) }
    }

    /// The asynchronous form of ``writeAFI(requestFlags:afi:completionHandler:)``.
    public func writeAFI(requestFlags flags: NFCISO15693RequestFlag, afi: UInt8) async throws {
        try await withCompletion { writeAFI(requestFlags: flags, afi: afi, completionHandler: $0) }
    }

    /// The asynchronous form of ``lockAFI(requestFlags:completionHandler:)``.
    public func lockAFI(requestFlags flags: NFCISO15693RequestFlag) async throws {
        try await withCompletion { lockAFI(requestFlags: flags, completionHandler: $0) }
    }

    /// The asynchronous form of ``writeDSFID(requestFlags:dsfid:completionHandler:)``.
    public func writeDSFID(requestFlags flags: NFCISO15693RequestFlag, dsfid: UInt8) async throws {
        try await withCompletion { writeDSFID(requestFlags: flags, dsfid: dsfid, completionHandler: $0) }
    }

    /// The asynchronous form of ``lockDFSID(requestFlags:completionHandler:)``.
    @available(*, deprecated)
    public func lockDFSID(requestFlags flags: NFCISO15693RequestFlag) async throws {
        try await withCompletion { lockDFSID(requestFlags: flags, completionHandler: $0) }
    }

    /// The asynchronous form of ``lockDSFID(requestFlags:completionHandler:)``.
    public func lockDSFID(requestFlags flags: NFCISO15693RequestFlag) async throws {
        try await withCompletion { lockDSFID(requestFlags: flags, completionHandler: $0) }
    }

    /// The asynchronous form of ``getSystemInfo(requestFlags:completionHandler:)``.
    ///
    /// - Returns: DSFID, AFI, block size, number of blocks and IC reference, each -1 when the tag does not
    ///   report it.
    @available(*, deprecated)
    public func getSystemInfo(requestFlags flags: NFCISO15693RequestFlag) async throws -> (Int, Int, Int, Int, Int) {
        try await withCompletion { getSystemInfo(requestFlags: flags, completionHandler: $0) }
    }

    /// The asynchronous form of ``getSystemInfo(requestFlags:resultHandler:)``.
    public func systemInfo(requestFlags flags: NFCISO15693RequestFlag) async throws -> NFCISO15693SystemInfo {
        try await withResult { getSystemInfo(requestFlags: flags, resultHandler: $0) }
    }

    /// The asynchronous form of ``getMultipleBlockSecurityStatus(requestFlags:blockRange:completionHandler:)``.
    public func getMultipleBlockSecurityStatus(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange
    ) async throws -> [NSNumber] {
        try await withCompletion {
            getMultipleBlockSecurityStatus(requestFlags: flags, blockRange: blockRange, completionHandler: $0)
        }
    }

    /// The asynchronous form of ``fastReadMultipleBlocks(requestFlags:blockRange:resultHandler:)``.
    public func fastReadMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange
    ) async throws -> [Data] {
        try await withCompletion {
            __fastReadMultipleBlocks(with: flags, blockRange: blockRange, completionHandler: $0)
        }
    }

    /// The asynchronous form of
    /// ``customCommand(requestFlags:customCommandCode:customRequestParameters:completionHandler:)``.
    public func customCommand(
        requestFlags flags: NFCISO15693RequestFlag,
        customCommandCode: Int,
        customRequestParameters: Data
    ) async throws -> Data {
        try await withCompletion {
            customCommand(
                requestFlags: flags,
                customCommandCode: customCommandCode,
                customRequestParameters: customRequestParameters,
                completionHandler: $0
            )
        }
    }

    /// The asynchronous form of ``extendedReadSingleBlock(requestFlags:blockNumber:completionHandler:)``.
    public func extendedReadSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int
    ) async throws -> Data {
        try await withCompletion {
            extendedReadSingleBlock(requestFlags: flags, blockNumber: blockNumber, completionHandler: $0)
        }
    }

    /// The asynchronous form of ``extendedWriteSingleBlock(requestFlags:blockNumber:dataBlock:completionHandler:)``.
    public func extendedWriteSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int,
        dataBlock: Data
    ) async throws {
        try await withCompletion {
            extendedWriteSingleBlock(
                requestFlags: flags,
                blockNumber: blockNumber,
                dataBlock: dataBlock,
                completionHandler: $0
            )
        }
    }

    /// The asynchronous form of ``extendedLockBlock(requestFlags:blockNumber:completionHandler:)``.
    public func extendedLockBlock(requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int) async throws {
        try await withCompletion {
            extendedLockBlock(requestFlags: flags, blockNumber: blockNumber, completionHandler: $0)
        }
    }

    /// The asynchronous form of ``extendedReadMultipleBlocks(requestFlags:blockRange:completionHandler:)``.
    public func extendedReadMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange
    ) async throws -> [Data] {
        try await withCompletion {
            extendedReadMultipleBlocks(requestFlags: flags, blockRange: blockRange, completionHandler: $0)
        }
    }

    /// The asynchronous form of ``extendedWriteMultipleBlocks(requestFlags:blockRange:dataBlocks:completionHandler:)``.
    public func extendedWriteMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        dataBlocks: [Data]
    ) async throws {
        try await withCompletion {
            __extendedWriteMultipleBlocks(
                withRequestFlags: flags,
                blockRange: blockRange,
                dataBlocks: dataBlocks,
                completionHandler: $0
            )
        }
    }

    /// The asynchronous form of ``authenticate(requestFlags:cryptoSuiteIdentifier:message:resultHandler:)``.
    public func authenticate(
        requestFlags flags: NFCISO15693RequestFlag,
        cryptoSuiteIdentifier: Int,
        message: Data
    ) async throws -> (NFCISO15693ResponseFlag, Data) {
        try await withCompletion {
            __authenticate(
                withRequestFlags: flags,
                cryptoSuiteIdentifier: cryptoSuiteIdentifier,
                message: message,
                completionHandler: $0
            )
        }
    }

    /// The asynchronous form of ``keyUpdate(requestFlags:keyIdentifier:message:resultHandler:)``.
    public func keyUpdate(
        requestFlags flags: NFCISO15693RequestFlag,
        keyIdentifier: Int,
        message: Data
    ) async throws -> (NFCISO15693ResponseFlag, Data) {
        try await withCompletion {
            __keyUpdate(withRequestFlags: flags, keyIdentifier: keyIdentifier, message: message, completionHandler: $0)
        }
    }

    /// The asynchronous form of ``challenge(requestFlags:cryptoSuiteIdentifier:message:completionHandler:)``.
    public func challenge(
        requestFlags flags: NFCISO15693RequestFlag,
        cryptoSuiteIdentifier: Int,
        message: Data
    ) async throws {
        try await withCompletion {
            __challenge(
                withRequestFlags: flags,
                cryptoSuiteIdentifier: cryptoSuiteIdentifier,
                message: message,
                completionHandler: $0
            )
        }
    }

    /// The asynchronous form of ``readBuffer(requestFlags:resultHandler:)``.
    public func readBuffer(requestFlags flags: NFCISO15693RequestFlag) async throws -> (NFCISO15693ResponseFlag, Data) {
        try await withCompletion { __readBuffer(withRequestFlags: flags, completionHandler: $0) }
    }

    /// The asynchronous form of ``extendedGetMultipleBlockSecurityStatus(requestFlags:blockRange:resultHandler:)``.
    public func extendedGetMultipleBlockSecurityStatus(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange
    ) async throws -> NFCISO15693MultipleBlockSecurityStatus {
        try await withResult {
            extendedGetMultipleBlockSecurityStatus(requestFlags: flags, blockRange: blockRange, resultHandler: $0)
        }
    }

    /// The asynchronous form of ``extendedFastReadMultipleBlocks(requestFlags:blockRange:resultHandler:)``.
    public func extendedFastReadMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange
    ) async throws -> [Data] {
        try await withCompletion {
            __extendedFastReadMultipleBlocks(with: flags, blockRange: blockRange, completionHandler: $0)
        }
    }

    /// The asynchronous form of ``sendRequest(requestFlags:commandCode:data:resultHandler:)``.
    public func sendRequest(
        requestFlags flags: Int,
        commandCode: Int,
        data: Data?
    ) async throws -> (NFCISO15693ResponseFlag, Data?) {
        try await withCompletion {
            __sendRequest(withFlag: flags, commandCode: commandCode, data: data, completionHandler: $0)
        }
    }

    // MARK: With a Result

    /// ``readSingleBlock(requestFlags:blockNumber:completionHandler:)`` with a `Result`.
    @preconcurrency
    public func readSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        readSingleBlock(requestFlags: flags, blockNumber: blockNumber) { resultHandler(Result($0, $1)) }
    }

    /// ``readMultipleBlocks(requestFlags:blockRange:completionHandler:)`` with a `Result`.
    @preconcurrency
    public func readMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
    ) {
        readMultipleBlocks(requestFlags: flags, blockRange: blockRange) { resultHandler(Result($0, $1)) }
    }

    /// Asks the tag for its system information and its UID (0x2B).
    @preconcurrency
    public func getSystemInfo(
        requestFlags flags: NFCISO15693RequestFlag,
        resultHandler: @escaping @Sendable (Result<NFCISO15693SystemInfo, any Error>) -> Void
    ) {
        __getSystemInfoAndUID(with: flags) { resultHandler(Result(NFCISO15693SystemInfo($0, $1, $2, $3, $4, $5), $6)) }
    }

    /// ``readMultipleBlocks(requestFlags:blockRange:completionHandler:)`` at twice the data rate (0x2D).
    @preconcurrency
    public func fastReadMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
    ) {
        __fastReadMultipleBlocks(with: flags, blockRange: blockRange) { resultHandler(Result($0, $1)) }
    }

    /// ``customCommand(requestFlags:customCommandCode:customRequestParameters:completionHandler:)`` with a `Result`.
    @preconcurrency
    public func customCommand(
        requestFlags flags: NFCISO15693RequestFlag,
        customCommandCode: Int,
        customRequestParameters: Data,
        resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        customCommand(
            requestFlags: flags,
            customCommandCode: customCommandCode,
            customRequestParameters: customRequestParameters
        ) {
            resultHandler(Result($0, $1))
        }
    }

    /// ``extendedReadSingleBlock(requestFlags:blockNumber:completionHandler:)`` with a `Result`.
    @preconcurrency
    public func extendedReadSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int,
        resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        extendedReadSingleBlock(requestFlags: flags, blockNumber: blockNumber) { resultHandler(Result($0, $1)) }
    }

    /// Writes one or more blocks of the same size, with two-byte block numbers from 0 to 65 535 (0x34).
    @preconcurrency
    public func extendedWriteMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        dataBlocks: [Data],
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        __extendedWriteMultipleBlocks(
            withRequestFlags: flags,
            blockRange: blockRange,
            dataBlocks: dataBlocks,
            completionHandler: completionHandler
        )
    }

    /// Authenticates (0x35) with a message that the cryptographic suite (ISO/IEC 29167, 0 to 255) defines. Returns the
    /// flags and data of the response, even if this is an in-process reply.
    @preconcurrency
    public func authenticate(
        requestFlags flags: NFCISO15693RequestFlag,
        cryptoSuiteIdentifier: Int,
        message: Data,
        resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data), any Error>) -> Void
    ) {
        __authenticate(withRequestFlags: flags, cryptoSuiteIdentifier: cryptoSuiteIdentifier, message: message) {
            resultHandler(Result(($0, $1), $2))
        }
    }

    /// Updates a key from 0 to 255 (0x36) with a message that the cryptographic suite defines. Returns the flags and
    /// data of the response, even if this is an in-process reply.
    @preconcurrency
    public func keyUpdate(
        requestFlags flags: NFCISO15693RequestFlag,
        keyIdentifier: Int,
        message: Data,
        resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data), any Error>) -> Void
    ) {
        __keyUpdate(withRequestFlags: flags, keyIdentifier: keyIdentifier, message: message) {
            resultHandler(Result(($0, $1), $2))
        }
    }

    /// Sends a challenge to all tags in the field (0x39), with a message that the cryptographic suite (ISO/IEC 29167, 0
    /// to 255) defines. Tags do not answer this command; read their response buffers afterwards.
    @preconcurrency
    public func challenge(
        requestFlags flags: NFCISO15693RequestFlag,
        cryptoSuiteIdentifier: Int,
        message: Data,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        __challenge(
            withRequestFlags: flags,
            cryptoSuiteIdentifier: cryptoSuiteIdentifier,
            message: message,
            completionHandler: completionHandler
        )
    }

    /// Reads the flags and data in the tag's response buffer (0x3A).
    @preconcurrency
    public func readBuffer(
        requestFlags flags: NFCISO15693RequestFlag,
        resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data), any Error>) -> Void
    ) {
        __readBuffer(withRequestFlags: flags) { resultHandler(Result(($0, $1), $2)) }
    }

    /// Requests the security status of one or more blocks, with two-byte block numbers from 0 to 65 535 (0x3C).
    @preconcurrency
    public func extendedGetMultipleBlockSecurityStatus(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        resultHandler: @escaping @Sendable (Result<NFCISO15693MultipleBlockSecurityStatus, any Error>) -> Void
    ) {
        __extendedGetMultipleBlockSecurityStatus(with: flags, blockRange: blockRange) {
            resultHandler(Result(NFCISO15693MultipleBlockSecurityStatus($0), $1))
        }
    }

    /// ``extendedReadMultipleBlocks(requestFlags:blockRange:completionHandler:)`` at twice the data rate (0x3D).
    @preconcurrency
    public func extendedFastReadMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
    ) {
        __extendedFastReadMultipleBlocks(with: flags, blockRange: blockRange) { resultHandler(Result($0, $1)) }
    }

    /// Sends one flags byte, one command byte and `data`, exactly as given. If the address flag is set, `data` has to
    /// contain the UID. Returns the flags and data of the response.
    @preconcurrency
    public func sendRequest(
        requestFlags flags: Int,
        commandCode: Int,
        data: Data?,
        resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data?), any Error>) -> Void
    ) {
        __sendRequest(withFlag: flags, commandCode: commandCode, data: data) { resultHandler(Result(($0, $1), $2)) }
    }
}
