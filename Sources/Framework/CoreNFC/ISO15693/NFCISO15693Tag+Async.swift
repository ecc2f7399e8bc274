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
