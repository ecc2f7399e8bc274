// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagProtocols

/// An ISO/IEC 15693 tag as an app sees it.
final class DetectedISO15693Tag: TagObject, NFCISO15693Tag, @unchecked Sendable {
    /// The UID: 8 bytes, most significant first.
    var uid: [UInt8] { handle.target.identifier }

    override var kind: String { "NFCISO15693Tag" }
    var type: __NFCTagType { .ISO15693 }
    var identifier: Data { Data(uid) }
    var icManufacturerCode: Int { uid.count == 8 ? Int(uid[1]) : 0 }
    var icSerialNumber: Data { Data(uid.dropFirst(2)) }

    func asNFCISO15693Tag() -> (any NFCISO15693Tag)? { self }
    func asNFCISO7816Tag() -> (any NFCISO7816Tag)? { nil }
    func asNFCFeliCaTag() -> (any NFCFeliCaTag)? { nil }
    func asNFCMiFareTag() -> (any NFCMiFareTag)? { nil }

    // MARK: Exchanges

    typealias Parameters = Result<[UInt8], NFCReaderError>

    /// Sends a command and decodes what follows the flags of the response.
    func send<Value>(
        _ command: ISO15693Packet.Command,
        _ flags: NFCISO15693RequestFlag,
        _ parameters: Parameters = .success([]),
        answer: AnswerTime = .usual,
        decode: @escaping @Sendable (ISO15693Answer) -> Result<Value, NFCReaderError>,
        completion: @escaping @Sendable (Result<Value, NFCReaderError>) -> Void
    ) {
        let frame = parameters.flatMap {
            ISO15693Packet.frame(command, flags: flags, uid: uid, parameters: $0)
        }
        exchange(frame, answer: answer) { bytes in
            ISO15693Answer.parse(bytes).flatMap(decode)
        } completion: {
            completion($0)
        }
    }

    /// Sends a command whose response has no data.
    func send(
        _ command: ISO15693Packet.Command,
        _ flags: NFCISO15693RequestFlag,
        _ parameters: Parameters = .success([]),
        answer: AnswerTime = .write,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        send(command, flags, parameters, answer: answer, decode: { $0.nothing() }) { completion($0.error) }
    }

    /// Sends a command that no tag answers.
    func sendWithoutAnswer(
        _ command: ISO15693Packet.Command,
        _ flags: NFCISO15693RequestFlag,
        _ parameters: Parameters = .success([]),
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let frame = parameters.flatMap {
            ISO15693Packet.frame(command, flags: flags, uid: uid, parameters: $0)
        }
        exchange(frame, answer: .none, decode: { _ in .success(()) }) { completion($0.error) }
    }

    /// Reads blocks.
    func sendForBlocks(
        _ command: ISO15693Packet.Command,
        _ flags: NFCISO15693RequestFlag,
        _ range: NSRange,
        isExtended: Bool,
        completion: @escaping @Sendable ([Data], (any Error)?) -> Void
    ) {
        send(command, flags, ISO15693Packet.blocks(range, isExtended: isExtended)) { response in
            response.blocks(count: range.length, withStatus: flags.contains(.option))
        } completion: {
            completion($0.value(or: []), $0.error)
        }
    }

    /// Reads the security status of blocks.
    func sendForStatuses(
        _ command: ISO15693Packet.Command,
        _ flags: NFCISO15693RequestFlag,
        _ range: NSRange,
        isExtended: Bool,
        completion: @escaping @Sendable ([NSNumber], (any Error)?) -> Void
    ) {
        send(command, flags, ISO15693Packet.blocks(range, isExtended: isExtended)) { response in
            response.statuses(count: range.length)
        } completion: { result in
            completion(result.value(or: []).map { NSNumber(value: $0) }, result.error)
        }
    }

    /// Sends a cryptographic command. The result includes the response's flags.
    func sendForFlags(
        _ command: ISO15693Packet.Command,
        _ flags: NFCISO15693RequestFlag,
        _ parameters: Parameters,
        completion: @escaping @Sendable (NFCISO15693ResponseFlag, Data, (any Error)?) -> Void
    ) {
        send(command, flags, parameters, answer: .write, decode: { .success($0) }) { result in
            let response = result.value(or: ISO15693Answer(flags: [], data: []))
            completion(response.flags, Data(response.data), result.error)
        }
    }
}

// The commands of ISO/IEC 15693-3 with block numbers of one byte.
extension DetectedISO15693Tag {
    func stayQuiet(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        sendWithoutAnswer(.stayQuiet, .highDataRate, completion: completionHandler)
    }

    func readSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    ) {
        send(.readSingleBlock, flags, .success([blockNumber])) { response in
            response.block(withStatus: flags.contains(.option))
        } completion: {
            completionHandler($0.value(or: Data()), $0.error)
        }
    }

    func writeSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        dataBlock: Data,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let parameters = Self.checked(dataBlock).map { [blockNumber] + $0 }
        send(.writeSingleBlock, flags, parameters, completion: completionHandler)
    }

    func lockBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: UInt8,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        send(.lockBlock, flags, .success([blockNumber]), completion: completionHandler)
    }

    func readMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    ) {
        sendForBlocks(.readMultipleBlocks, flags, blockRange, isExtended: false, completion: completionHandler)
    }

    func writeMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        dataBlocks: [Data],
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let parameters = ISO15693Packet.blocks(blockRange, data: dataBlocks, isExtended: false)
        send(.writeMultipleBlocks, flags, parameters, completion: completionHandler)
    }

    func select(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        send(.select, flags, answer: .usual, completion: completionHandler)
    }

    func resetToReady(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        send(.resetToReady, flags, answer: .usual, completion: completionHandler)
    }

    func writeAFI(
        requestFlags flags: NFCISO15693RequestFlag,
        afi: UInt8,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        send(.writeAFI, flags, .success([afi]), completion: completionHandler)
    }

    func lockAFI(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        send(.lockAFI, flags, completion: completionHandler)
    }

    func writeDSFID(
        requestFlags flags: NFCISO15693RequestFlag,
        dsfid: UInt8,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        send(.writeDSFID, flags, .success([dsfid]), completion: completionHandler)
    }

    func lockDFSID(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        send(.lockDSFID, flags, completion: completionHandler)
    }

    func lockDSFID(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        send(.lockDSFID, flags, completion: completionHandler)
    }

    func getSystemInfo(
        requestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable (Int, Int, Int, Int, Int, (any Error)?) -> Void
    ) {
        __getSystemInfoAndUID(with: flags) { _, dsfid, afi, blockSize, blockCount, icReference, error in
            completionHandler(dsfid, afi, blockSize, blockCount, icReference, error)
        }
    }

    func __getSystemInfoAndUID(
        with flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable (Data?, Int, Int, Int, Int, Int, (any Error)?) -> Void
    ) {
        send(.getSystemInformation, flags) {
            $0.systemInfo()
        } completion: { result in
            switch result {
            case .success(let info):
                completionHandler(
                    info.uniqueIdentifier,
                    info.dataStorageFormatIdentifier,
                    info.applicationFamilyIdentifier,
                    info.blockSize,
                    info.totalBlocks,
                    info.icReference,
                    nil
                )
            case .failure(let error): completionHandler(nil, -1, -1, -1, -1, -1, error)
            }
        }
    }

    func getMultipleBlockSecurityStatus(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([NSNumber], (any Error)?) -> Void
    ) {
        sendForStatuses(
            .getMultipleBlockSecurityStatus,
            flags,
            blockRange,
            isExtended: false,
            completion: completionHandler
        )
    }

    func __fastReadMultipleBlocks(
        with flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    ) {
        sendForBlocks(.fastReadMultipleBlocks, flags, blockRange, isExtended: false, completion: completionHandler)
    }

    /// A block to write has from 1 to 32 bytes.
    static func checked(_ block: Data) -> Parameters {
        guard (1...32).contains(block.count) else {
            return .failure(
                NFCReaderError(.readerErrorInvalidParameterLength, reason: "A block has from 1 to 32 bytes.")
            )
        }
        return .success([UInt8](block))
    }
}

// The commands of ISO/IEC 15693-3 with block numbers of two bytes, the cryptographic commands, and custom commands.
extension DetectedISO15693Tag {
    func extendedReadSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    ) {
        send(.extendedReadSingleBlock, flags, ISO15693Packet.block(blockNumber, isExtended: true)) { response in
            response.block(withStatus: flags.contains(.option))
        } completion: {
            completionHandler($0.value(or: Data()), $0.error)
        }
    }

    func extendedWriteSingleBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int,
        dataBlock: Data,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let parameters = ISO15693Packet.block(blockNumber, isExtended: true).flatMap { number in
            Self.checked(dataBlock).map { number + $0 }
        }
        send(.extendedWriteSingleBlock, flags, parameters, completion: completionHandler)
    }

    func extendedLockBlock(
        requestFlags flags: NFCISO15693RequestFlag,
        blockNumber: Int,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        send(
            .extendedLockBlock,
            flags,
            ISO15693Packet.block(blockNumber, isExtended: true),
            completion: completionHandler
        )
    }

    func extendedReadMultipleBlocks(
        requestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    ) {
        sendForBlocks(.extendedReadMultipleBlocks, flags, blockRange, isExtended: true, completion: completionHandler)
    }

    func __extendedWriteMultipleBlocks(
        withRequestFlags flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        dataBlocks: [Data],
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let parameters = ISO15693Packet.blocks(blockRange, data: dataBlocks, isExtended: true)
        send(.extendedWriteMultipleBlocks, flags, parameters, completion: completionHandler)
    }

    func __extendedGetMultipleBlockSecurityStatus(
        with flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([NSNumber], (any Error)?) -> Void
    ) {
        sendForStatuses(
            .extendedGetMultipleBlockSecurityStatus,
            flags,
            blockRange,
            isExtended: true,
            completion: completionHandler
        )
    }

    func __extendedFastReadMultipleBlocks(
        with flags: NFCISO15693RequestFlag,
        blockRange: NSRange,
        completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void
    ) {
        sendForBlocks(
            .extendedFastReadMultipleBlocks,
            flags,
            blockRange,
            isExtended: true,
            completion: completionHandler
        )
    }

    // MARK: Cryptographic suites

    func __authenticate(
        withRequestFlags flags: NFCISO15693RequestFlag,
        cryptoSuiteIdentifier: Int,
        message: Data,
        completionHandler: @escaping @Sendable (NFCISO15693ResponseFlag, Data, (any Error)?) -> Void
    ) {
        let parameters = Self.byte(cryptoSuiteIdentifier).map { $0 + message }
        sendForFlags(.authenticate, flags, parameters, completion: completionHandler)
    }

    func __keyUpdate(
        withRequestFlags flags: NFCISO15693RequestFlag,
        keyIdentifier: Int,
        message: Data,
        completionHandler: @escaping @Sendable (NFCISO15693ResponseFlag, Data, (any Error)?) -> Void
    ) {
        sendForFlags(.keyUpdate, flags, Self.byte(keyIdentifier).map { $0 + message }, completion: completionHandler)
    }

    func __challenge(
        withRequestFlags flags: NFCISO15693RequestFlag,
        cryptoSuiteIdentifier: Int,
        message: Data,
        completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let parameters = Self.byte(cryptoSuiteIdentifier).map { $0 + message }
        sendWithoutAnswer(.challenge, flags, parameters, completion: completionHandler)
    }

    func __readBuffer(
        withRequestFlags flags: NFCISO15693RequestFlag,
        completionHandler: @escaping @Sendable (NFCISO15693ResponseFlag, Data, (any Error)?) -> Void
    ) {
        sendForFlags(.readBuffer, flags, .success([]), completion: completionHandler)
    }

    private static func byte(_ value: Int) -> Parameters {
        guard let byte = UInt8(exactly: value) else {
            return .failure(NFCReaderError(.readerErrorParameterOutOfBound, reason: "An identifier is one byte."))
        }
        return .success([byte])
    }

    // MARK: Free commands

    func customCommand(
        requestFlags flags: NFCISO15693RequestFlag,
        customCommandCode: Int,
        customRequestParameters: Data,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    ) {
        let frame = ISO15693Packet.custom(
            code: customCommandCode,
            flags: flags,
            manufacturer: icManufacturerCode,
            parameters: [UInt8](customRequestParameters)
        )
        exchange(frame, answer: .write) { bytes in
            ISO15693Answer.parse(bytes).map { Data($0.data) }
        } completion: {
            completionHandler($0.value(or: Data()), $0.error)
        }
    }

    func __sendRequest(
        withFlag flags: Int,
        commandCode: Int,
        data: Data?,
        completionHandler: @escaping @Sendable (NFCISO15693ResponseFlag, Data?, (any Error)?) -> Void
    ) {
        let frame = ISO15693Packet.raw(flags: flags, code: commandCode, data: [UInt8](data ?? Data()))
        exchange(frame, answer: .write) { bytes in
            ISO15693Answer.parse(bytes)
        } completion: { result in
            switch result {
            case .success(let response): completionHandler(response.flags, Data(response.data), nil)
            case .failure(let error): completionHandler([], nil, error)
            }
        }
    }
}

// The commands with a configuration. They are sent again when the tag does not answer.
extension DetectedISO15693Tag {
    func sendCustomCommand(
        commandConfiguration: NFCISO15693CustomCommandConfiguration,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    ) {
        let frame = ISO15693Packet.custom(
            code: commandConfiguration.customCommandCode,
            flags: .highDataRate,
            manufacturer: commandConfiguration.manufacturerCode,
            parameters: [UInt8](commandConfiguration.requestParameters)
        )
        let checked = commandConfiguration.policy.flatMap { policy in
            frame.mapError { $0.ofConfiguration }.map { (policy, $0) }
        }
        exchange(
            checked.map(\.1),
            answer: .write,
            retrying: checked.map(\.0).value(or: .none)
        ) { bytes in
            ISO15693Answer.parse(bytes).map { Data($0.data) }
        } completion: {
            completionHandler($0.value(or: Data()), $0.error)
        }
    }

    func readMultipleBlock(
        readConfiguration: NFCISO15693ReadMultipleBlocksConfiguration,
        completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
    ) {
        let range = readConfiguration.range
        let chunkSize = readConfiguration.chunkSize
        let finish: @Sendable (Result<Data, NFCReaderError>) -> Void = { result in
            completionHandler(result.value(or: Data()), result.error)
        }
        let checked = readConfiguration.policy.flatMap { policy in
            ISO15693Packet.blocks(range, isExtended: false).mapError { $0.ofConfiguration }.map { _ in policy }
        }
        switch checked {
        case .failure(let error): complete(.failure(error), finish)
        case .success where chunkSize < 1: complete(.failure(.badChunkSize), finish)
        case .success(let policy):
            readChunks(of: chunkSize, range, retrying: policy, after: Data(), finish)
        }
    }

    /// Reads the next chunk of a range, then the rest.
    private func readChunks(
        of size: Int,
        _ range: NSRange,
        retrying policy: RetryPolicy,
        after read: Data,
        _ finish: @escaping @Sendable (Result<Data, NFCReaderError>) -> Void
    ) {
        let count = min(size, range.length)
        let frame = ISO15693Packet.blocks(
            NSRange(location: range.location, length: count),
            isExtended: false
        ).flatMap { parameters in
            ISO15693Packet.frame(.readMultipleBlocks, flags: .highDataRate, uid: uid, parameters: parameters)
        }
        exchange(frame, retrying: policy) { bytes in
            ISO15693Answer.parse(bytes).flatMap { $0.blocks(count: count, withStatus: false) }
        } completion: { [self] result in
            switch result {
            case .failure(let error): finish(.failure(error))
            case .success(let blocks):
                let joined = blocks.reduce(into: read) { $0 += $1 }
                let rest = NSRange(location: range.location + count, length: range.length - count)
                if rest.length == 0 {
                    finish(.success(joined))
                } else {
                    readChunks(of: size, rest, retrying: policy, after: joined, finish)
                }
            }
        }
    }
}

extension NFCReaderError {
    /// The same error as an error of a configuration.
    fileprivate var ofConfiguration: NFCReaderError {
        let reason = userInfo[NSLocalizedFailureReasonErrorKey] as? String ?? ""
        return NFCReaderError(.tagCommandConfigurationErrorInvalidParameters, reason: reason)
    }

    fileprivate static var badChunkSize: NFCReaderError {
        NFCReaderError(.tagCommandConfigurationErrorInvalidParameters, reason: "chunkSize is at least 1.")
    }
}
