// SPDX-License-Identifier: Apache-2.0
public import Foundation

// These forms are extensions, not requirements, because clients write their own tag classes.
extension NFCISO15693Tag {
    /// Sends a custom command of a manufacturer, and sends it again when the tag does not answer. A configuration out
    /// of bounds fails with `tagCommandConfigurationErrorInvalidParameters`. When all retries fail, the error is
    /// `readerTransceiveErrorRetryExceeded`.
    ///
    /// - Parameter commandConfiguration: the command, and the number of retries.
    /// - Returns: what follows the flags of the response.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func sendCustomCommand(commandConfiguration: NFCISO15693CustomCommandConfiguration) async throws -> Data {
        try await withCompletion { continuation in
            sendCustomCommand(commandConfiguration: commandConfiguration) { value, error in
                continuation.resume(with: value, error)
            }
        }
    }

    /// Reads a range of blocks in chunks (0x23). A configuration out of bounds fails with
    /// `tagCommandConfigurationErrorInvalidParameters`. When all retries fail, the error is
    /// `readerTransceiveErrorRetryExceeded`.
    ///
    /// - Parameter readConfiguration: the blocks, the number of blocks in each command, and the number of retries.
    /// - Returns: the concatenated blocks.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func readMultipleBlock(readConfiguration: NFCISO15693ReadMultipleBlocksConfiguration) async throws -> Data {
        try await withCompletion { continuation in
            readMultipleBlock(readConfiguration: readConfiguration) { value, error in
                continuation.resume(with: value, error)
            }
        }
    }

    /// Makes the tag quiet (0x02): until it is reset or loses power, it answers only addressed requests. The tag does
    /// not answer this command.
    ///
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func stayQuiet() async throws {
        try await withCompletion { continuation in
            stayQuiet { error in continuation.resume(with: error) }
        }
    }

    /// Reads a block (0x20).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 255.
    /// - Returns: the block, after its security status if the option flag is set.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func readSingleBlock(requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8) async throws -> Data {
        try await withCompletion { continuation in
            readSingleBlock(requestFlags: flags, blockNumber: blockNumber) { data, error in
                continuation.resume(with: data, error)
            }
        }
    }

    /// Writes a block (0x21).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 255.
    ///   - dataBlock: the bytes of the block.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func writeSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        dataBlock: Data
    ) async throws {
        try await withCompletion { continuation in
            writeSingleBlock(requestFlags: flags, blockNumber: blockNumber, dataBlock: dataBlock) { error in
                continuation.resume(with: error)
            }
        }
    }

    /// Locks a block permanently (0x22).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 255.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func lockBlock(requestFlags flags: NFCISO15693RequestFlag, blockNumber: UInt8) async throws {
        try await withCompletion { continuation in
            lockBlock(requestFlags: flags, blockNumber: blockNumber) { error in continuation.resume(with: error) }
        }
    }

    /// Reads blocks with one command (0x23).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 255, and at least one.
    /// - Returns: the blocks, each after its security status if the option flag is set.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func readMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange
    ) async throws -> [Data] {
        try await withCompletion { continuation in
            readMultipleBlocks(requestFlags: flags, blockRange: blockRange) { blocks, error in
                continuation.resume(with: blocks, error)
            }
        }
    }

    /// Writes blocks with one command (0x24).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 255, and at least one.
    ///   - dataBlocks: the bytes of each block, all of one size.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func writeMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        dataBlocks: [Data]
    ) async throws {
        try await withCompletion { continuation in
            writeMultipleBlocks(requestFlags: flags, blockRange: blockRange, dataBlocks: dataBlocks) { error in
                continuation.resume(with: error)
            }
        }
    }

    /// Selects the tag (0x25). The request is always addressed, regardless of the flags.
    ///
    /// - Parameter flags: the flags of the request.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func select(requestFlags flags: NFCISO15693RequestFlag) async throws {
        try await withCompletion { continuation in
            select(requestFlags: flags) { error in continuation.resume(with: error) }
        }
    }

    /// Returns the tag to the ready state, in which it entered the field (0x26).
    ///
    /// - Parameter flags: the flags of the request.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func resetToReady(requestFlags flags: NFCISO15693RequestFlag) async throws {
        try await withCompletion { continuation in
            resetToReady(requestFlags: flags) { error in continuation.resume(with: error) }
        }
    }

    /// Writes the application family identifier (0x27).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - afi: the application family identifier.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func writeAFI(requestFlags flags: NFCISO15693RequestFlag, afi: UInt8) async throws {
        try await withCompletion { continuation in
            writeAFI(requestFlags: flags, afi: afi) { error in continuation.resume(with: error) }
        }
    }

    /// Locks the application family identifier permanently (0x28).
    ///
    /// - Parameter flags: the flags of the request.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func lockAFI(requestFlags flags: NFCISO15693RequestFlag) async throws {
        try await withCompletion { continuation in
            lockAFI(requestFlags: flags) { error in continuation.resume(with: error) }
        }
    }

    /// Writes the data storage format identifier (0x29).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - dsfid: the data storage format identifier.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func writeDSFID(requestFlags flags: NFCISO15693RequestFlag, dsfid: UInt8) async throws {
        try await withCompletion { continuation in
            writeDSFID(requestFlags: flags, dsfid: dsfid) { error in continuation.resume(with: error) }
        }
    }

    /// Locks the data storage format identifier permanently (0x2A).
    ///
    /// - Parameter flags: the flags of the request.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    @available(*, deprecated)
    public func lockDFSID(requestFlags flags: NFCISO15693RequestFlag) async throws {
        try await withCompletion { continuation in
            lockDFSID(requestFlags: flags) { error in continuation.resume(with: error) }
        }
    }

    /// Locks the data storage format identifier permanently (0x2A).
    ///
    /// - Parameter flags: the flags of the request.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func lockDSFID(requestFlags flags: NFCISO15693RequestFlag) async throws {
        try await withCompletion { continuation in
            lockDSFID(requestFlags: flags) { error in continuation.resume(with: error) }
        }
    }

    /// Asks the tag for its system information (0x2B).
    ///
    /// - Parameter flags: the flags of the request.
    /// - Returns: DSFID, AFI, block size, number of blocks and IC reference, each -1 when the tag does not report it.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    @available(*, deprecated)
    public func getSystemInfo(requestFlags flags: NFCISO15693RequestFlag) async throws -> (Int, Int, Int, Int, Int) {
        try await withCompletion { continuation in
            getSystemInfo(requestFlags: flags) { dsfid, afi, blockSize, blockCount, icReference, error in
                continuation.resume(with: (dsfid, afi, blockSize, blockCount, icReference), error)
            }
        }
    }

    /// Asks the tag for its system information and its UID (0x2B).
    ///
    /// - Parameter flags: the flags of the request.
    /// - Returns: the system information.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func systemInfo(requestFlags flags: NFCISO15693RequestFlag) async throws -> NFCISO15693SystemInfo {
        try await withCompletion { continuation in
            __getSystemInfoAndUID(with: flags) { uid, dsfid, afi, blockSize, blockCount, icReference, error in
                continuation.resume(
                    with: NFCISO15693SystemInfo(uid, dsfid, afi, blockSize, blockCount, icReference),
                    error
                )
            }
        }
    }

    /// Asks for the security status of blocks (0x2C).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 255, and at least one.
    /// - Returns: the status of each block.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func getMultipleBlockSecurityStatus(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange
    ) async throws -> [NSNumber] {
        try await withCompletion { continuation in
            getMultipleBlockSecurityStatus(requestFlags: flags, blockRange: blockRange) { statuses, error in
                continuation.resume(with: statuses, error)
            }
        }
    }

    /// Reads blocks with one command, at twice the data rate (0x2D).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 255, and at least one.
    /// - Returns: the blocks, each after its security status if the option flag is set.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func fastReadMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange
    ) async throws -> [Data] {
        try await withCompletion { continuation in
            __fastReadMultipleBlocks(with: flags, blockRange: blockRange) { blocks, error in
                continuation.resume(with: blocks, error)
            }
        }
    }
}

// These forms are extensions, not requirements, because clients write their own tag classes.
extension NFCISO15693Tag {
    /// Sends a custom command of the tag's manufacturer. The framework adds the manufacturer's code after the command,
    /// but not the UID.
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - customCommandCode: the command's code, 0xA0 to 0xDF.
    ///   - customRequestParameters: what follows the manufacturer's code.
    /// - Returns: what follows the flags of the response.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func customCommand(
        requestFlags flags: NFCISO15693RequestFlag,
        customCommandCode: Int,
        customRequestParameters: Data
    ) async throws -> Data {
        try await withCompletion { continuation in
            customCommand(
                requestFlags: flags,
                customCommandCode: customCommandCode,
                customRequestParameters: customRequestParameters
            ) { data, error in
                continuation.resume(with: data, error)
            }
        }
    }

    /// Reads a block by a number of two bytes (0x30).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 65 535.
    /// - Returns: the block, after its security status if the option flag is set.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func extendedReadSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int
    ) async throws -> Data {
        try await withCompletion { continuation in
            extendedReadSingleBlock(requestFlags: flags, blockNumber: blockNumber) { data, error in
                continuation.resume(with: data, error)
            }
        }
    }

    /// Writes a block by a number of two bytes (0x31).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 65 535.
    ///   - dataBlock: the bytes of the block.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func extendedWriteSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int,
        dataBlock: Data
    ) async throws {
        try await withCompletion { continuation in
            extendedWriteSingleBlock(requestFlags: flags, blockNumber: blockNumber, dataBlock: dataBlock) { error in
                continuation.resume(with: error)
            }
        }
    }

    /// Locks a block permanently, by a number of two bytes (0x32).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 65 535.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func extendedLockBlock(requestFlags flags: NFCISO15693RequestFlag, blockNumber: Int) async throws {
        try await withCompletion { continuation in
            extendedLockBlock(requestFlags: flags, blockNumber: blockNumber) { error in continuation.resume(with: error)
            }
        }
    }

    /// Reads blocks by numbers of two bytes (0x33).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 65 535, and at least one.
    /// - Returns: the blocks, each after its security status if the option flag is set.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func extendedReadMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange
    ) async throws -> [Data] {
        try await withCompletion { continuation in
            extendedReadMultipleBlocks(requestFlags: flags, blockRange: blockRange) { blocks, error in
                continuation.resume(with: blocks, error)
            }
        }
    }

    /// Writes blocks by numbers of two bytes (0x34).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 65 535, and at least one.
    ///   - dataBlocks: the bytes of each block, all of one size.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func extendedWriteMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        dataBlocks: [Data]
    ) async throws {
        try await withCompletion { continuation in
            __extendedWriteMultipleBlocks(withRequestFlags: flags, blockRange: blockRange, dataBlocks: dataBlocks) {
                error in continuation.resume(with: error)
            }
        }
    }

    /// Authenticates (0x35). An in-process reply is returned unchanged.
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - cryptoSuiteIdentifier: the cryptographic suite (ISO/IEC 29167), 0 to 255.
    ///   - message: the message that the cryptographic suite defines.
    /// - Returns: the flags and data of the response.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func authenticate(
        requestFlags flags: NFCISO15693RequestFlag,
        cryptoSuiteIdentifier: Int,
        message: Data
    ) async throws -> (NFCISO15693ResponseFlag, Data) {
        try await withCompletion { continuation in
            __authenticate(withRequestFlags: flags, cryptoSuiteIdentifier: cryptoSuiteIdentifier, message: message) {
                responseFlags,
                data,
                error in
                continuation.resume(with: (responseFlags, data), error)
            }
        }
    }

    /// Updates a key (0x36). An in-process reply is returned unchanged.
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - keyIdentifier: the key, 0 to 255.
    ///   - message: the message that the cryptographic suite defines.
    /// - Returns: the flags and data of the response.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func keyUpdate(
        requestFlags flags: NFCISO15693RequestFlag,
        keyIdentifier: Int,
        message: Data
    ) async throws -> (NFCISO15693ResponseFlag, Data) {
        try await withCompletion { continuation in
            __keyUpdate(withRequestFlags: flags, keyIdentifier: keyIdentifier, message: message) {
                responseFlags,
                data,
                error in
                continuation.resume(with: (responseFlags, data), error)
            }
        }
    }

    /// Sends a challenge to all tags near (0x39). Tags do not answer: read the response buffer afterwards.
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - cryptoSuiteIdentifier: the cryptographic suite (ISO/IEC 29167), 0 to 255.
    ///   - message: the message that the cryptographic suite defines.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func challenge(
        requestFlags flags: NFCISO15693RequestFlag,
        cryptoSuiteIdentifier: Int,
        message: Data
    ) async throws {
        try await withCompletion { continuation in
            __challenge(withRequestFlags: flags, cryptoSuiteIdentifier: cryptoSuiteIdentifier, message: message) {
                error in continuation.resume(with: error)
            }
        }
    }

    /// Reads the tag's response buffer (0x3A).
    ///
    /// - Parameter flags: the flags of the request.
    /// - Returns: the flags and data of the response.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func readBuffer(requestFlags flags: NFCISO15693RequestFlag) async throws -> (NFCISO15693ResponseFlag, Data) {
        try await withCompletion { continuation in
            __readBuffer(withRequestFlags: flags) { responseFlags, data, error in
                continuation.resume(with: (responseFlags, data), error)
            }
        }
    }

    /// Asks for the security status of blocks by numbers of two bytes (0x3C).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 65 535, and at least one.
    /// - Returns: the status of each block.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func extendedGetMultipleBlockSecurityStatus(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange
    ) async throws -> NFCISO15693MultipleBlockSecurityStatus {
        try await withCompletion { continuation in
            __extendedGetMultipleBlockSecurityStatus(with: flags, blockRange: blockRange) { statuses, error in
                continuation.resume(with: NFCISO15693MultipleBlockSecurityStatus(statuses), error)
            }
        }
    }

    /// Reads blocks by numbers of two bytes, at twice the data rate (0x3D).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 65 535, and at least one.
    /// - Returns: the blocks, each after its security status if the option flag is set.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func extendedFastReadMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange
    ) async throws -> [Data] {
        try await withCompletion { continuation in
            __extendedFastReadMultipleBlocks(with: flags, blockRange: blockRange) { blocks, error in
                continuation.resume(with: blocks, error)
            }
        }
    }

    /// Sends a request that the caller builds from flags, command and data. The framework adds nothing to it.
    ///
    /// - Parameters:
    ///   - flags: the flags, one byte.
    ///   - commandCode: the command, one byte.
    ///   - data: what follows the command. It has to contain the UID when the address flag is set.
    /// - Returns: the flags and data of the response.
    /// - Throws: ``NFCReaderError`` as for the form with a completion handler.
    public func sendRequest(
        requestFlags flags: Int,
        commandCode: Int,
        data: Data?
    ) async throws -> (NFCISO15693ResponseFlag, Data?) {
        try await withCompletion { continuation in
            __sendRequest(withFlag: flags, commandCode: commandCode, data: data) { responseFlags, response, error in
                continuation.resume(with: (responseFlags, response), error)
            }
        }
    }
}

// These forms are extensions, not requirements, because clients write their own tag classes.
extension NFCISO15693Tag {
    /// Reads a block (0x20).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 255.
    ///   - resultHandler: called on the session's queue with the block (after its security status if the option flag is
    ///     set), or with an ``NFCReaderError``.
    @preconcurrency
    public func readSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        readSingleBlock(requestFlags: flags, blockNumber: blockNumber) { data, error in
            handler.call(data, error)
        }
    }

    /// Reads blocks with one command (0x23).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 255, and at least one.
    ///   - resultHandler: called on the session's queue with the blocks (each after its security status if the option
    ///     flag is set), or with an ``NFCReaderError``.
    @preconcurrency
    public func readMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        readMultipleBlocks(requestFlags: flags, blockRange: blockRange) { blocks, error in
            handler.call(blocks, error)
        }
    }

    /// Asks the tag for its system information and its UID (0x2B).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - resultHandler: called on the session's queue with the system information, or with an ``NFCReaderError``.
    @preconcurrency
    public func getSystemInfo(
        requestFlags flags: NFCISO15693RequestFlag,
        resultHandler: @escaping @Sendable (Result<NFCISO15693SystemInfo, any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        __getSystemInfoAndUID(with: flags) { uid, dsfid, afi, blockSize, blockCount, icReference, error in
            handler.call(NFCISO15693SystemInfo(uid, dsfid, afi, blockSize, blockCount, icReference), error)
        }
    }

    /// Reads blocks with one command, at twice the data rate (0x2D).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 255, and at least one.
    ///   - resultHandler: called on the session's queue with the blocks (each after its security status if the option
    ///     flag is set), or with an ``NFCReaderError``.
    @preconcurrency
    public func fastReadMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        __fastReadMultipleBlocks(with: flags, blockRange: blockRange) { blocks, error in
            handler.call(blocks, error)
        }
    }

    /// Sends a custom command of the tag's manufacturer. The framework adds the manufacturer's code after the command,
    /// but not the UID.
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - customCommandCode: the command's code, 0xA0 to 0xDF.
    ///   - customRequestParameters: what follows the manufacturer's code.
    ///   - resultHandler: called on the session's queue with what follows the flags of the response, or with an
    ///     ``NFCReaderError``.
    @preconcurrency
    public func customCommand(
        requestFlags flags: NFCISO15693RequestFlag,
        customCommandCode: Int,
        customRequestParameters: Data,
        resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        customCommand(
            requestFlags: flags,
            customCommandCode: customCommandCode,
            customRequestParameters: customRequestParameters
        ) { data, error in
            handler.call(data, error)
        }
    }

    /// Reads a block by a number of two bytes (0x30).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 65 535.
    ///   - resultHandler: called on the session's queue with the block (after its security status if the option flag is
    ///     set), or with an ``NFCReaderError``.
    @preconcurrency
    public func extendedReadSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int,
        resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        extendedReadSingleBlock(requestFlags: flags, blockNumber: blockNumber) { data, error in
            handler.call(data, error)
        }
    }

    /// Writes blocks by numbers of two bytes (0x34).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 65 535, and at least one.
    ///   - dataBlocks: the bytes of each block, all of one size.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
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

    /// Authenticates (0x35). An in-process reply is returned unchanged.
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - cryptoSuiteIdentifier: the cryptographic suite (ISO/IEC 29167), 0 to 255.
    ///   - message: the message that the cryptographic suite defines.
    ///   - resultHandler: called on the session's queue with the flags and data of the response, or with an
    ///     ``NFCReaderError``.
    @preconcurrency
    public func authenticate(
        requestFlags flags: NFCISO15693RequestFlag,
        cryptoSuiteIdentifier: Int,
        message: Data,
        resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data), any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        __authenticate(withRequestFlags: flags, cryptoSuiteIdentifier: cryptoSuiteIdentifier, message: message) {
            responseFlags,
            data,
            error in
            handler.call((responseFlags, data), error)
        }
    }

    /// Updates a key (0x36). An in-process reply is returned unchanged.
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - keyIdentifier: the key, 0 to 255.
    ///   - message: the message that the cryptographic suite defines.
    ///   - resultHandler: called on the session's queue with the flags and data of the response, or with an
    ///     ``NFCReaderError``.
    @preconcurrency
    public func keyUpdate(
        requestFlags flags: NFCISO15693RequestFlag,
        keyIdentifier: Int,
        message: Data,
        resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data), any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        __keyUpdate(withRequestFlags: flags, keyIdentifier: keyIdentifier, message: message) {
            responseFlags,
            data,
            error in
            handler.call((responseFlags, data), error)
        }
    }

    /// Sends a challenge to all tags near (0x39). Tags do not answer: read the response buffer afterwards.
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - cryptoSuiteIdentifier: the cryptographic suite (ISO/IEC 29167), 0 to 255.
    ///   - message: the message that the cryptographic suite defines.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
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

    /// Reads the tag's response buffer (0x3A).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - resultHandler: called on the session's queue with the flags and data of the response, or with an
    ///     ``NFCReaderError``.
    @preconcurrency
    public func readBuffer(
        requestFlags flags: NFCISO15693RequestFlag,
        resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data), any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        __readBuffer(withRequestFlags: flags) { responseFlags, data, error in
            handler.call((responseFlags, data), error)
        }
    }

    /// Asks for the security status of blocks by numbers of two bytes (0x3C).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 65 535, and at least one.
    ///   - resultHandler: called on the session's queue with the status of each block, or with an ``NFCReaderError``.
    @preconcurrency
    public func extendedGetMultipleBlockSecurityStatus(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        resultHandler: @escaping @Sendable (Result<NFCISO15693MultipleBlockSecurityStatus, any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        __extendedGetMultipleBlockSecurityStatus(with: flags, blockRange: blockRange) { statuses, error in
            handler.call(NFCISO15693MultipleBlockSecurityStatus(statuses), error)
        }
    }

    /// Reads blocks by numbers of two bytes, at twice the data rate (0x3D).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 65 535, and at least one.
    ///   - resultHandler: called on the session's queue with the blocks (each after its security status if the option
    ///     flag is set), or with an ``NFCReaderError``.
    @preconcurrency
    public func extendedFastReadMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        resultHandler: @escaping @Sendable (Result<[Data], any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        __extendedFastReadMultipleBlocks(with: flags, blockRange: blockRange) { blocks, error in
            handler.call(blocks, error)
        }
    }

    /// Sends a request that the caller builds from flags, command and data. The framework adds nothing to it.
    ///
    /// - Parameters:
    ///   - flags: the flags, one byte.
    ///   - commandCode: the command, one byte.
    ///   - data: what follows the command. It has to contain the UID when the address flag is set.
    ///   - resultHandler: called on the session's queue with the flags and data of the response, or with an
    ///     ``NFCReaderError``.
    @preconcurrency
    public func sendRequest(
        requestFlags flags: Int,
        commandCode: Int,
        data: Data?,
        resultHandler: @escaping @Sendable (Result<(NFCISO15693ResponseFlag, Data?), any Error>) -> Void
    ) {
        let handler = ResultHandler(resultHandler)
        __sendRequest(withFlag: flags, commandCode: commandCode, data: data) { responseFlags, response, error in
            handler.call((responseFlags, response), error)
        }
    }
}
