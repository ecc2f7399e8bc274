// SPDX-License-Identifier: Apache-2.0
public import Foundation

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
