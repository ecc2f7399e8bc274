// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagProtocols

final class DetectedISO15693Tag: TagObject, NFCISO15693Tag, @unchecked Sendable {
    typealias Flags = NFCISO15693RequestFlag
    /// The completion handlers of commands, named after the values that they receive in addition to an error.
    typealias Done = @Sendable ((any Error)?) -> Void
    typealias DataHandler = @Sendable (Data, (any Error)?) -> Void
    typealias BlocksHandler = @Sendable ([Data], (any Error)?) -> Void
    typealias StatusHandler = @Sendable ([NSNumber], (any Error)?) -> Void
    typealias FlagsHandler = @Sendable (NFCISO15693ResponseFlag, Data, (any Error)?) -> Void

    /// The UID: 8 bytes, most significant first.
    private var uid: [UInt8] { handle.target.identifier }

    override var kind: String { "NFCISO15693Tag" }
    var type: __NFCTagType { .ISO15693 }
    var identifier: Data { Data(uid) }
    var icManufacturerCode: Int { uid.count == 8 ? Int(uid[1]) : 0 }
    var icSerialNumber: Data { Data(uid.dropFirst(2)) }

    // MARK: Exchanges

    private func send<Value>(
        _ command: ISO15693Packet.Command,
        _ flags: Flags,
        _ parameters: ISO15693Packet.Parameters = .none,
        or other: @escaping @autoclosure @Sendable () -> Value,
        decode: @escaping @Sendable (ISO15693Answer) throws -> Value,
        completion: @escaping @Sendable (Value, (any Error)?) -> Void
    ) {
        exchange(
            try ISO15693Packet.frame(command, flags: flags, uid: uid, parameters: parameters),
            or: other(),
            decode: { try decode(ISO15693Answer(parsing: $0)) },
            completion: completion
        )
    }

    private func send(
        _ command: ISO15693Packet.Command,
        _ flags: Flags,
        _ parameters: ISO15693Packet.Parameters = .none,
        completion: @escaping Done
    ) {
        send(command, flags, parameters, or: (), decode: { try $0.expectNoData() }) { completion($1) }
    }

    private func sendWithoutAnswer(
        _ command: ISO15693Packet.Command,
        _ flags: Flags,
        _ parameters: ISO15693Packet.Parameters = .none,
        completion: @escaping Done
    ) {
        let frame = Result { try ISO15693Packet.frame(command, flags: flags, uid: uid, parameters: parameters) }
        exchange(try frame.get(), answer: .none, or: (), decode: { _ in }, completion: { completion($1) })
    }

    private func read(
        _ command: ISO15693Packet.Command,
        _ flags: Flags,
        _ number: Int,
        _ completion: @escaping DataHandler
    ) {
        let hasStatus = flags.contains(.option)
        send(
            command,
            flags,
            .block(number),
            or: Data(),
            decode: { try $0.block(withStatus: hasStatus) },
            completion: completion
        )
    }

    private func read(
        _ command: ISO15693Packet.Command,
        _ flags: Flags,
        _ range: NSRange,
        _ completion: @escaping BlocksHandler
    ) {
        let hasStatus = flags.contains(.option)
        send(
            command,
            flags,
            .blocks(range),
            or: [],
            decode: { try $0.blocks(count: range.length, withStatus: hasStatus) },
            completion: completion
        )
    }

    private func readStatuses(
        _ command: ISO15693Packet.Command,
        _ flags: Flags,
        _ range: NSRange,
        _ completion: @escaping StatusHandler
    ) {
        let count = range.length
        send(command, flags, .blocks(range), or: [], decode: { try $0.statuses(count: count) }, completion: completion)
    }

    /// Sends a cryptographic command. The result includes the response's flags.
    private func sendForFlags(
        _ command: ISO15693Packet.Command,
        _ flags: Flags,
        _ parameters: ISO15693Packet.Parameters,
        _ completion: @escaping FlagsHandler
    ) {
        send(command, flags, parameters, or: .empty, decode: { $0 }) { completion($0.flags, Data($0.data), $1) }
    }

    // MARK: Commands with block numbers of one byte (ISO/IEC 15693-3)

    func stayQuiet(completionHandler: @escaping Done) {
        sendWithoutAnswer(.stayQuiet, .highDataRate, completion: completionHandler)
    }

    func readSingleBlock(requestFlags flags: Flags, blockNumber: UInt8, completionHandler: @escaping DataHandler) {
        read(.readSingleBlock, flags, Int(blockNumber), completionHandler)
    }

    func writeSingleBlock(
        requestFlags flags: Flags,
        blockNumber: UInt8,
        dataBlock: Data,
        completionHandler: @escaping Done
    ) {
        send(.writeSingleBlock, flags, .block(Int(blockNumber), data: dataBlock), completion: completionHandler)
    }

    func lockBlock(requestFlags flags: Flags, blockNumber: UInt8, completionHandler: @escaping Done) {
        send(.lockBlock, flags, .block(Int(blockNumber)), completion: completionHandler)
    }

    func readMultipleBlocks(
        requestFlags flags: Flags,
        blockRange: NSRange,
        completionHandler: @escaping BlocksHandler
    ) {
        read(.readMultipleBlocks, flags, blockRange, completionHandler)
    }

    func writeMultipleBlocks(
        requestFlags flags: Flags,
        blockRange: NSRange,
        dataBlocks: [Data],
        completionHandler: @escaping Done
    ) {
        send(.writeMultipleBlocks, flags, .blocks(blockRange, data: dataBlocks), completion: completionHandler)
    }

    func select(requestFlags flags: Flags, completionHandler: @escaping Done) {
        send(.select, flags, completion: completionHandler)
    }

    func resetToReady(requestFlags flags: Flags, completionHandler: @escaping Done) {
        send(.resetToReady, flags, completion: completionHandler)
    }

    func writeAFI(requestFlags flags: Flags, afi: UInt8, completionHandler: @escaping Done) {
        send(.writeAFI, flags, .byte(afi), completion: completionHandler)
    }

    func lockAFI(requestFlags flags: Flags, completionHandler: @escaping Done) {
        send(.lockAFI, flags, completion: completionHandler)
    }

    func writeDSFID(requestFlags flags: Flags, dsfid: UInt8, completionHandler: @escaping Done) {
        send(.writeDSFID, flags, .byte(dsfid), completion: completionHandler)
    }

    func lockDFSID(requestFlags flags: Flags, completionHandler: @escaping Done) {
        lockDSFID(requestFlags: flags, completionHandler: completionHandler)
    }

    func lockDSFID(requestFlags flags: Flags, completionHandler: @escaping Done) {
        send(.lockDSFID, flags, completion: completionHandler)
    }

    func getSystemInfo(
        requestFlags flags: Flags,
        completionHandler: @escaping @Sendable (Int, Int, Int, Int, Int, (any Error)?) -> Void
    ) {
        __getSystemInfoAndUID(with: flags) { completionHandler($1, $2, $3, $4, $5, $6) }
    }

    func __getSystemInfoAndUID(
        with flags: Flags,
        completionHandler: @escaping @Sendable (Data?, Int, Int, Int, Int, Int, (any Error)?) -> Void
    ) {
        send(.getSystemInformation, flags, or: .empty, decode: { try $0.systemInfo() }) { info, error in
            completionHandler(
                error == nil ? info.uniqueIdentifier : nil,
                info.dataStorageFormatIdentifier,
                info.applicationFamilyIdentifier,
                info.blockSize,
                info.totalBlocks,
                info.icReference,
                error
            )
        }
    }

    func getMultipleBlockSecurityStatus(
        requestFlags flags: Flags,
        blockRange: NSRange,
        completionHandler: @escaping StatusHandler
    ) {
        readStatuses(.getMultipleBlockSecurityStatus, flags, blockRange, completionHandler)
    }

    func __fastReadMultipleBlocks(with flags: Flags, blockRange: NSRange, completionHandler: @escaping BlocksHandler) {
        read(.fastReadMultipleBlocks, flags, blockRange, completionHandler)
    }

    // MARK: Commands with block numbers of two bytes

    func extendedReadSingleBlock(
        requestFlags flags: Flags,
        blockNumber: Int,
        completionHandler: @escaping DataHandler
    ) {
        read(.extendedReadSingleBlock, flags, blockNumber, completionHandler)
    }

    func extendedWriteSingleBlock(
        requestFlags flags: Flags,
        blockNumber: Int,
        dataBlock: Data,
        completionHandler: @escaping Done
    ) {
        send(.extendedWriteSingleBlock, flags, .block(blockNumber, data: dataBlock), completion: completionHandler)
    }

    func extendedLockBlock(requestFlags flags: Flags, blockNumber: Int, completionHandler: @escaping Done) {
        send(.extendedLockBlock, flags, .block(blockNumber), completion: completionHandler)
    }

    func extendedReadMultipleBlocks(
        requestFlags flags: Flags,
        blockRange: NSRange,
        completionHandler: @escaping BlocksHandler
    ) {
        read(.extendedReadMultipleBlocks, flags, blockRange, completionHandler)
    }

    func __extendedWriteMultipleBlocks(
        withRequestFlags flags: Flags,
        blockRange: NSRange,
        dataBlocks: [Data],
        completionHandler: @escaping Done
    ) {
        send(.extendedWriteMultipleBlocks, flags, .blocks(blockRange, data: dataBlocks), completion: completionHandler)
    }

    func __extendedGetMultipleBlockSecurityStatus(
        with flags: Flags,
        blockRange: NSRange,
        completionHandler: @escaping StatusHandler
    ) {
        readStatuses(.extendedGetMultipleBlockSecurityStatus, flags, blockRange, completionHandler)
    }

    func __extendedFastReadMultipleBlocks(
        with flags: Flags,
        blockRange: NSRange,
        completionHandler: @escaping BlocksHandler
    ) {
        read(.extendedFastReadMultipleBlocks, flags, blockRange, completionHandler)
    }

    // MARK: Cryptographic suites

    func __authenticate(
        withRequestFlags flags: Flags,
        cryptoSuiteIdentifier: Int,
        message: Data,
        completionHandler: @escaping FlagsHandler
    ) {
        sendForFlags(.authenticate, flags, .message(cryptoSuiteIdentifier, message), completionHandler)
    }

    func __keyUpdate(
        withRequestFlags flags: Flags,
        keyIdentifier: Int,
        message: Data,
        completionHandler: @escaping FlagsHandler
    ) {
        sendForFlags(.keyUpdate, flags, .message(keyIdentifier, message), completionHandler)
    }

    func __challenge(
        withRequestFlags flags: Flags,
        cryptoSuiteIdentifier: Int,
        message: Data,
        completionHandler: @escaping Done
    ) {
        sendWithoutAnswer(.challenge, flags, .message(cryptoSuiteIdentifier, message), completion: completionHandler)
    }

    func __readBuffer(withRequestFlags flags: Flags, completionHandler: @escaping FlagsHandler) {
        sendForFlags(.readBuffer, flags, .none, completionHandler)
    }

    // MARK: Free commands

    func customCommand(
        requestFlags flags: Flags,
        customCommandCode: Int,
        customRequestParameters: Data,
        completionHandler: @escaping DataHandler
    ) {
        exchange(
            try ISO15693Packet.custom(
                code: customCommandCode,
                flags: flags,
                manufacturer: icManufacturerCode,
                parameters: customRequestParameters
            ),
            or: Data(),
            decode: { Data(try ISO15693Answer(parsing: $0).data) },
            completion: completionHandler
        )
    }

    func __sendRequest(
        withFlag flags: Int,
        commandCode: Int,
        data: Data?,
        completionHandler: @escaping @Sendable (NFCISO15693ResponseFlag, Data?, (any Error)?) -> Void
    ) {
        exchange(
            try ISO15693Packet.raw(flags: flags, code: commandCode, data: data ?? Data()),
            or: .empty,
            decode: { try ISO15693Answer(parsing: $0) }
        ) {
            response,
            error in completionHandler(response.flags, error == nil ? Data(response.data) : nil, error)
        }
    }

    // MARK: Commands with a configuration, which are sent again when the tag does not answer

    func sendCustomCommand(
        commandConfiguration: NFCISO15693CustomCommandConfiguration,
        completionHandler: @escaping DataHandler
    ) {
        do {
            let policy = try commandConfiguration.policy
            let frame = try ofConfiguration {
                try ISO15693Packet.custom(
                    code: commandConfiguration.customCommandCode,
                    flags: .highDataRate,
                    manufacturer: commandConfiguration.manufacturerCode,
                    parameters: commandConfiguration.requestParameters
                )
            }
            exchange(
                frame,
                retrying: policy,
                or: Data(),
                decode: { Data(try ISO15693Answer(parsing: $0).data) },
                completion: completionHandler
            )
        } catch { fail { completionHandler(Data(), error) } }
    }

    func readMultipleBlock(
        readConfiguration: NFCISO15693ReadMultipleBlocksConfiguration,
        completionHandler: @escaping DataHandler
    ) {
        let (range, chunkSize) = (readConfiguration.range, readConfiguration.chunkSize)
        do {
            let policy = try readConfiguration.policy
            _ = try ofConfiguration { try frame(reading: range) }
            guard chunkSize >= 1 else {
                throw NFCReaderError(.tagCommandConfigurationErrorInvalidParameters, reason: "chunkSize is below 1.")
            }
            readChunks(of: chunkSize, range, retrying: policy, after: Data(), completionHandler)
        } catch { fail { completionHandler(Data(), error) } }
    }

    private func frame(reading range: NSRange) throws -> [UInt8] {
        try ISO15693Packet.frame(.readMultipleBlocks, flags: .highDataRate, uid: uid, parameters: .blocks(range))
    }

    private func readChunks(
        of size: Int,
        _ range: NSRange,
        retrying policy: RetryPolicy,
        after read: Data,
        _ completion: @escaping DataHandler
    ) {
        let chunk = NSRange(location: range.location, length: min(size, range.length))
        let rest = NSRange(location: range.location + chunk.length, length: range.length - chunk.length)
        exchange(
            try frame(reading: chunk),
            retrying: policy,
            or: [],
            decode: { try ISO15693Answer(parsing: $0).blocks(count: chunk.length, withStatus: false) }
        ) { [self] blocks, error in
            if let error { return completion(Data(), error) }
            let joined = blocks.reduce(into: read) { $0 += $1 }
            if rest.length == 0 { return completion(joined, nil) }
            readChunks(of: size, rest, retrying: policy, after: joined, completion)
        }
    }

    /// Converts an error about parameters into an error about the configuration that contains the parameters.
    private func ofConfiguration<Value>(_ parameters: () throws -> Value) throws -> Value {
        do { return try parameters() } catch {
            let reason = (error as? NFCReaderError)?.userInfo[NSLocalizedFailureReasonErrorKey] as? String ?? ""
            throw NFCReaderError(.tagCommandConfigurationErrorInvalidParameters, reason: reason)
        }
    }
}
