// SPDX-License-Identifier: Apache-2.0
import Foundation

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
