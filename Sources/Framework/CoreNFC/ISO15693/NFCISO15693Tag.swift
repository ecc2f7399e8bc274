// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// An ISO/IEC 15693 tag.
///
/// Connect the session to the tag before a command. Completion handlers are called once, on the session's queue.
///
/// A request is addressed by default: the address flag is set and the tag's UID put in, unless the caller's flags have
/// the select flag. When the tag reports an error the ``NFCReaderError`` is `readerTransceiveErrorTagResponseError` and
/// the tag's code is in its user info under ``NFCISO15693TagResponseErrorKey``; an answer of a wrong length has
/// ``NFCTagResponseUnexpectedLengthErrorKey`` there. A parameter out of bounds is `readerErrorParameterOutOfBound`,
/// data that don't fit the range `readerErrorInvalidParameterLength`, and a frame of more than 256 bytes
/// `readerTransceiveErrorPacketTooLong`. Other errors are `readerTransceiveErrorTagNotConnected`,
/// `readerTransceiveErrorTagConnectionLost` and `readerTransceiveErrorSessionInvalidated`.
public protocol NFCISO15693Tag: NFCNDEFTag, __NFCTag {
    /// The UID: 8 bytes, most significant first, so that it begins with `E0`.
    var identifier: Data { get }

    /// The manufacturer's code in the UID (ISO/IEC 7816-6).
    var icManufacturerCode: Int { get }

    /// The serial number in the UID: 6 bytes, most significant first.
    var icSerialNumber: Data { get }

    /// Sends a custom command of a manufacturer, and again when the tag does not answer. A configuration that is out of
    /// bounds gives `tagCommandConfigurationErrorInvalidParameters`; retries in vain give
    /// `readerTransceiveErrorRetryExceeded`.
    ///
    /// - Parameters:
    ///   - commandConfiguration: the command, and how often it is sent again.
    ///   - completionHandler: called on the session's queue with what follows the flags of the response and nil, or
    ///     with an ``NFCReaderError``.
    @preconcurrency
    func sendCustomCommand(
        commandConfiguration: NFCISO15693CustomCommandConfiguration,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    )

    /// Reads a range of blocks, some at a time (0x23). A configuration that is out of bounds gives
    /// `tagCommandConfigurationErrorInvalidParameters`; retries in vain give `readerTransceiveErrorRetryExceeded`.
    ///
    /// - Parameters:
    ///   - readConfiguration: the blocks, how many at a time, and how often a read is sent again.
    ///   - completionHandler: called on the session's queue with the blocks, joined and nil, or with an
    ///     ``NFCReaderError``.
    @preconcurrency
    func readMultipleBlock(
        readConfiguration: NFCISO15693ReadMultipleBlocksConfiguration,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    )

    /// Makes the tag quiet (0x02): it answers only addressed requests until it is reset or loses power. The tag does
    /// not answer this one.
    ///
    /// - Parameter completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
    @preconcurrency
    func stayQuiet(completionHandler: @escaping @Sendable ((any Error)?) -> Void)

    /// Reads a block (0x20).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 255.
    ///   - completionHandler: called on the session's queue with the block, after its security status with the option
    ///     flag and nil, or with an ``NFCReaderError``.
    @preconcurrency
    func readSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    )

    /// Writes a block (0x21).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 255.
    ///   - dataBlock: the bytes of the block.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
    @preconcurrency
    func writeSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        dataBlock: Data,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Locks a block for ever (0x22).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 255.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
    @preconcurrency
    func lockBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Reads blocks with one command (0x23).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 255, and at least one.
    ///   - completionHandler: called on the session's queue with the blocks, each after its security status with the
    ///     option flag and nil, or with an ``NFCReaderError``.
    @preconcurrency
    func readMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    )

    /// Writes blocks with one command (0x24).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 255, and at least one.
    ///   - dataBlocks: the bytes of each block, all of one size.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
    @preconcurrency
    func writeMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        dataBlocks: [Data],
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Selects the tag (0x25). The request is addressed, whatever the flags say.
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
    @preconcurrency
    func select(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Makes the tag ready, as it was when it came (0x26).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
    @preconcurrency
    func resetToReady(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Writes the application family identifier (0x27).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - afi: the application family identifier.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
    @preconcurrency
    func writeAFI(
        requestFlags flags: NFCISO15693RequestFlag,
        afi: UInt8,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Locks the application family identifier for ever (0x28).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
    @preconcurrency
    func lockAFI(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Writes the data storage format identifier (0x29).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - dsfid: the data storage format identifier.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
    @preconcurrency
    func writeDSFID(
        requestFlags flags: NFCISO15693RequestFlag,
        dsfid: UInt8,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Locks the data storage format identifier for ever (0x2A).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
    @available(*, deprecated, renamed: "lockDSFID(requestFlags:completionHandler:)")
    @preconcurrency
    func lockDFSID(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Locks the data storage format identifier for ever (0x2A).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
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
    ///     reference, each -1 when the tag does not say it and nil, or with an ``NFCReaderError``.
    @available(*, deprecated, message: "Use the form with a result handler.")
    @preconcurrency
    func getSystemInfo(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable (Int, Int, Int, Int, Int, (any Error)?) -> Void
    )

    /// Does what ``getSystemInfo(requestFlags:resultHandler:)`` asks for.
    @preconcurrency
    func __getSystemInfoAndUID(
        with flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable (Data?, Int, Int, Int, Int, Int, (any Error)?) -> Void
    )

    /// Asks for the security status of blocks (0x2C).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 255, and at least one.
    ///   - completionHandler: called on the session's queue with the status of each block and nil, or with an
    ///     ``NFCReaderError``.
    @preconcurrency
    func getMultipleBlockSecurityStatus(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([NSNumber], (any Error)?) -> Void
    )

    /// Does what ``fastReadMultipleBlocks(requestFlags:blockRange:resultHandler:)`` asks for.
    @preconcurrency
    func __fastReadMultipleBlocks(
        with flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    )

    /// Sends a custom command of the tag's manufacturer. The manufacturer's code is put in after the command; the UID
    /// is not.
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - customCommandCode: the command's code, 0xA0 to 0xDF.
    ///   - customRequestParameters: what follows the manufacturer's code.
    ///   - completionHandler: called on the session's queue with what follows the flags of the response and nil, or
    ///     with an ``NFCReaderError``.
    @preconcurrency
    func customCommand(
        requestFlags flags: NFCISO15693RequestFlag,
        customCommandCode: Int,
        customRequestParameters: Data,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    )

    /// Reads a block by a number of two bytes (0x30).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 65 535.
    ///   - completionHandler: called on the session's queue with the block, after its security status with the option
    ///     flag and nil, or with an ``NFCReaderError``.
    @preconcurrency
    func extendedReadSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    )

    /// Writes a block by a number of two bytes (0x31).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 65 535.
    ///   - dataBlock: the bytes of the block.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
    @preconcurrency
    func extendedWriteSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int,
        dataBlock: Data,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Locks a block by a number of two bytes, for ever (0x32).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockNumber: the block, 0 to 65 535.
    ///   - completionHandler: called on the session's queue with nil, or an ``NFCReaderError``.
    @preconcurrency
    func extendedLockBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Reads blocks by numbers of two bytes (0x33).
    ///
    /// - Parameters:
    ///   - flags: the flags of the request.
    ///   - blockRange: the blocks: the first from 0 to 65 535, and at least one.
    ///   - completionHandler: called on the session's queue with the blocks, each after its security status with the
    ///     option flag and nil, or with an ``NFCReaderError``.
    @preconcurrency
    func extendedReadMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    )

    /// Does what ``extendedWriteMultipleBlocks(requestFlags:blockRange:dataBlocks:completionHandler:)`` asks for.
    @preconcurrency
    func __extendedWriteMultipleBlocks(
        withRequestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        dataBlocks: [Data],
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Does what ``authenticate(requestFlags:cryptoSuiteIdentifier:message:resultHandler:)`` asks for.
    @preconcurrency
    func __authenticate(
        withRequestFlags flags: NFCISO15693RequestFlag,
        cryptoSuiteIdentifier: Int,
        message: Data,
        completionHandler: @escaping @Sendable (NFCISO15693ResponseFlag, Data, (any Error)?) -> Void
    )

    /// Does what ``keyUpdate(requestFlags:keyIdentifier:message:resultHandler:)`` asks for.
    @preconcurrency
    func __keyUpdate(
        withRequestFlags flags: NFCISO15693RequestFlag,
        keyIdentifier: Int,
        message: Data,
        completionHandler: @escaping @Sendable (NFCISO15693ResponseFlag, Data, (any Error)?) -> Void
    )

    /// Does what ``challenge(requestFlags:cryptoSuiteIdentifier:message:completionHandler:)`` asks for.
    @preconcurrency
    func __challenge(
        withRequestFlags flags: NFCISO15693RequestFlag,
        cryptoSuiteIdentifier: Int,
        message: Data,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    )

    /// Does what ``readBuffer(requestFlags:resultHandler:)`` asks for.
    @preconcurrency
    func __readBuffer(
        withRequestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable (NFCISO15693ResponseFlag, Data, (any Error)?) -> Void
    )

    /// Does what ``extendedGetMultipleBlockSecurityStatus(requestFlags:blockRange:resultHandler:)`` asks for.
    @preconcurrency
    func __extendedGetMultipleBlockSecurityStatus(
        with flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([NSNumber], (any Error)?) -> Void
    )

    /// Does what ``extendedFastReadMultipleBlocks(requestFlags:blockRange:resultHandler:)`` asks for.
    @preconcurrency
    func __extendedFastReadMultipleBlocks(
        with flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    )

    /// Does what ``sendRequest(requestFlags:commandCode:data:resultHandler:)`` asks for.
    @preconcurrency
    func __sendRequest(
        withFlag flags: Int,
        commandCode: Int,
        data: Data?,
        completionHandler: @escaping @Sendable (NFCISO15693ResponseFlag, Data?, (any Error)?) -> Void
    )
}
