// SPDX-License-Identifier: Apache-2.0
import Foundation

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
