// SPDX-License-Identifier: Apache-2.0
@preconcurrency import CoreNFC
import Foundation

// A reader of a sensor with ISO/IEC 15693: it wakes the sensor with a custom command and reads its memory, three blocks
// at a time, with retries.

enum SensorError: Error {
    case tag(code: Int)
    case other(NFCReaderError)
}

final class SensorReader: NSObject, NFCTagReaderSessionDelegate, @unchecked Sendable {
    private var session: NFCTagReaderSession?
    private let onMemory: @Sendable (Result<Data, SensorError>) -> Void

    init(onMemory: @escaping @Sendable (Result<Data, SensorError>) -> Void) {
        self.onMemory = onMemory
    }

    func start() {
        guard NFCReaderSession.readingAvailable else { return }
        session = NFCTagReaderSession(pollingOption: .iso15693, delegate: self)
        session?.begin()
    }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
        if let error = error as? NFCReaderError, error.code != .readerSessionInvalidationErrorUserCanceled {
            onMemory(.failure(.other(error)))
        }
    }

    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
        guard case .iso15693(let tag) = tags.first else { return }
        Task {
            do {
                try await session.connect(to: .iso15693(tag))
                _ = try await tag.customCommand(
                    requestFlags: [.highDataRate],
                    customCommandCode: 0xA1,
                    customRequestParameters: Data()
                )
                let info = try await tag.systemInfo(requestFlags: .highDataRate)
                var memory = Data()
                for start in stride(from: 0, to: info.totalBlocks, by: 3) {
                    let count = min(3, info.totalBlocks - start)
                    memory += try await blocks(of: tag, NSRange(location: start, length: count)).reduce(Data(), +)
                }
                onMemory(.success(memory))
                session.invalidate()
            } catch {
                let code = (error as NSError).userInfo[NFCISO15693TagResponseErrorKey] as? Int
                onMemory(
                    .failure(
                        code.map { .tag(code: $0) }
                            ?? .other(
                                (error as? NFCReaderError) ?? NFCReaderError(.readerTransceiveErrorTagResponseError)
                            )
                    )
                )
                session.invalidate(errorMessage: "The sensor did not answer.")
            }
        }
    }

    private func blocks(of tag: any NFCISO15693Tag, _ range: NSRange) async throws -> [Data] {
        var triesLeft = 5
        while true {
            do {
                return try await tag.readMultipleBlocks(requestFlags: [.highDataRate, .address], blockRange: range)
            } catch {
                triesLeft -= 1
                if triesLeft == 0 { throw error }
                try await Task.sleep(nanoseconds: 250_000_000)
            }
        }
    }
}
