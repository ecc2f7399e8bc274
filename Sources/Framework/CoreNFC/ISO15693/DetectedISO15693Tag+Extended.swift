// SPDX-License-Identifier: Apache-2.0
import Foundation

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
