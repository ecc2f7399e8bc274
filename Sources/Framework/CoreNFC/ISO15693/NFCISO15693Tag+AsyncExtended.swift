// SPDX-License-Identifier: Apache-2.0
public import Foundation

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
