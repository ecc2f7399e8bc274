// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// An ISO/IEC 15693 tag.
///
/// Connect the session to the tag before a command. Completion handlers are called once, on the session's queue, with the
/// values and a nil error, or with an ``NFCReaderError``.
///
/// A request is addressed by default: unless the select flag is set, the framework sets the address flag and adds the
/// tag's UID. The error of a command is one of these:
/// - `readerTransceiveErrorTagResponseError` when the tag reports an error, with the tag's code in the user info under
///   ``NFCISO15693TagResponseErrorKey``; or when an answer has the wrong length, with
///   ``NFCTagResponseUnexpectedLengthErrorKey`` in the user info.
/// - `readerErrorParameterOutOfBound` for a parameter out of bounds.
/// - `readerErrorInvalidParameterLength` for data of the wrong length.
/// - `readerTransceiveErrorPacketTooLong` for a frame of more than 256 bytes.
/// - `readerTransceiveErrorTagNotConnected`, `readerTransceiveErrorTagConnectionLost` or
///   `readerTransceiveErrorSessionInvalidated`.
public protocol NFCISO15693Tag: NFCNDEFTag, __NFCTag {
    /// The UID: 8 bytes, most significant first, so that it begins with `E0`.
    var identifier: Data { get }

    /// The manufacturer's code in the UID (ISO/IEC 7816-6).
    var icManufacturerCode: Int { get }

    /// The serial number in the UID: 6 bytes, most significant first.
    var icSerialNumber: Data { get }

    /// Sends a manufacturer's custom command, and repeats it when the tag does not answer. Invalid values in the
    /// configuration cause `tagCommandConfigurationErrorInvalidParameters`. When all retries fail, the error is
    /// `readerTransceiveErrorRetryExceeded`.
    ///
    /// - Parameters:
    ///   - commandConfiguration: the command, and the number of retries.
    ///   - completionHandler: gets the data after the flags of the response.
    @preconcurrency
    func sendCustomCommand(
        commandConfiguration: NFCISO15693CustomCommandConfiguration,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    )

    /// Reads a range of blocks in chunks (0x23). Invalid values in the configuration cause
    /// `tagCommandConfigurationErrorInvalidParameters`. When all retries fail, the error is
    /// `readerTransceiveErrorRetryExceeded`.
    ///
    /// - Parameters:
    ///   - readConfiguration: the blocks, the number of blocks in each command, and the number of retries.
    ///   - completionHandler: gets the concatenated blocks.
    @preconcurrency
    func readMultipleBlock(
        readConfiguration: NFCISO15693ReadMultipleBlocksConfiguration,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    )

    /// Puts the tag in the quiet state (0x02), in which it answers only addressed requests, until the tag is reset or
    /// loses power. The tag does not answer this command.
    @preconcurrency
    func stayQuiet(completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// Reads a block (0x20). If the option flag is set, the data begin with the block's security status.
    @preconcurrency
    func readSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    )

    /// Writes a block (0x21).
    @preconcurrency
    func writeSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        dataBlock: Data,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Locks a block permanently (0x22).
    @preconcurrency
    func lockBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Reads one or more blocks from 0 to 255 with one command (0x23). If the option flag is set, each block begins
    /// with its security status.
    @preconcurrency
    func readMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    )

    /// Writes one or more blocks of the same size, from 0 to 255, with one command (0x24).
    @preconcurrency
    func writeMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        dataBlocks: [Data],
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Selects the tag (0x25). The request is always addressed, regardless of the flags.
    @preconcurrency
    func select(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Returns the tag to the ready state, the initial state in a field (0x26).
    @preconcurrency
    func resetToReady(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Writes the application family identifier (0x27).
    @preconcurrency
    func writeAFI(
        requestFlags flags: NFCISO15693RequestFlag,
        afi: UInt8,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Locks the application family identifier permanently (0x28).
    @preconcurrency
    func lockAFI(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Writes the data storage format identifier (0x29).
    @preconcurrency
    func writeDSFID(
        requestFlags flags: NFCISO15693RequestFlag,
        dsfid: UInt8,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Locks the data storage format identifier permanently (0x2A).
    @available(*, deprecated, renamed: "lockDSFID(requestFlags:completionHandler:)")
    @preconcurrency
    func lockDFSID(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Locks the data storage format identifier permanently (0x2A).
    @preconcurrency
    func lockDSFID(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Asks the tag for its system information (0x2B).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - completionHandler: called on the session's queue with DSFID, AFI, block size, number of blocks and IC
    ///     reference (each -1 when the tag does not report it) and a nil error, or with an ``NFCReaderError``.
    @available(*, deprecated, message: "Use the form with a result handler.")
    @preconcurrency
    func getSystemInfo(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable (Int, Int, Int, Int, Int, (any Error)?) -> Void
    )

    /// Implements ``getSystemInfo(requestFlags:resultHandler:)``.
    @preconcurrency
    func __getSystemInfoAndUID(
        with flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable (Data?, Int, Int, Int, Int, Int, (any Error)?) -> Void
    )

    /// Requests the security status of one or more blocks from 0 to 255 (0x2C).
    @preconcurrency
    func getMultipleBlockSecurityStatus(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([NSNumber], (any Error)?) -> Void
    )

    /// Implements ``fastReadMultipleBlocks(requestFlags:blockRange:resultHandler:)``.
    @preconcurrency
    func __fastReadMultipleBlocks(
        with flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    )

    /// Sends a custom command of the tag's manufacturer. The framework adds the manufacturer's code after the command,
    /// but does not add the UID. An addressed custom command fails, as on a phone: the connected tag needs no UID.
    ///
    /// - Parameters:
    ///   - flags: the request's flags, without `address`.
    ///   - customCommandCode: the command's code, 0xA0 to 0xDF.
    ///   - customRequestParameters: the data after the manufacturer's code.
    ///   - completionHandler: gets the data after the flags of the response.
    @preconcurrency
    func customCommand(
        requestFlags flags: NFCISO15693RequestFlag,
        customCommandCode: Int,
        customRequestParameters: Data,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    )

    /// Reads a block with a two-byte number (0x30). If the option flag is set, the data begin with its security status.
    @preconcurrency
    func extendedReadSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    )

    /// Writes a block with a two-byte number (0x31).
    @preconcurrency
    func extendedWriteSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int,
        dataBlock: Data,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Locks a block with a two-byte number permanently (0x32).
    @preconcurrency
    func extendedLockBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Reads one or more blocks from 0 to 65 535 with one command (0x33). If the option flag is set, each block begins
    /// with its security status.
    @preconcurrency
    func extendedReadMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    )

    /// Implements ``extendedWriteMultipleBlocks(requestFlags:blockRange:dataBlocks:completionHandler:)``.
    @preconcurrency
    func __extendedWriteMultipleBlocks(
        withRequestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        dataBlocks: [Data],
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Implements ``authenticate(requestFlags:cryptoSuiteIdentifier:message:resultHandler:)``.
    @preconcurrency
    func __authenticate(
        withRequestFlags flags: NFCISO15693RequestFlag,
        cryptoSuiteIdentifier: Int,
        message: Data,
        completionHandler: @escaping @Sendable (NFCISO15693ResponseFlag, Data, (any Error)?) -> Void
    )

    /// Implements ``keyUpdate(requestFlags:keyIdentifier:message:resultHandler:)``.
    @preconcurrency
    func __keyUpdate(
        withRequestFlags flags: NFCISO15693RequestFlag,
        keyIdentifier: Int,
        message: Data,
        completionHandler: @escaping @Sendable (NFCISO15693ResponseFlag, Data, (any Error)?) -> Void
    )

    /// Implements ``challenge(requestFlags:cryptoSuiteIdentifier:message:completionHandler:)``.
    @preconcurrency
    func __challenge(
        withRequestFlags flags: NFCISO15693RequestFlag,
        cryptoSuiteIdentifier: Int,
        message: Data,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Implements ``readBuffer(requestFlags:resultHandler:)``.
    @preconcurrency
    func __readBuffer(
        withRequestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable (NFCISO15693ResponseFlag, Data, (any Error)?) -> Void
    )

    /// Implements ``extendedGetMultipleBlockSecurityStatus(requestFlags:blockRange:resultHandler:)``.
    @preconcurrency
    func __extendedGetMultipleBlockSecurityStatus(
        with flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([NSNumber], (any Error)?) -> Void
    )

    /// Implements ``extendedFastReadMultipleBlocks(requestFlags:blockRange:resultHandler:)``.
    @preconcurrency
    func __extendedFastReadMultipleBlocks(
        with flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    )

    /// Implements ``sendRequest(requestFlags:commandCode:data:resultHandler:)``.
    @preconcurrency
    func __sendRequest(
        withFlag flags: Int,
        commandCode: Int,
        data: Data?,
        completionHandler: @escaping @Sendable (NFCISO15693ResponseFlag, Data?, (any Error)?) -> Void
    )
}
