// SPDX-License-Identifier: Apache-2.0
@preconcurrency import CoreNFC
import Foundation
import NFCSessions
import Testing

@testable import SimulatorModel

/// The conditions of the field do what the page says. Those of the phone are tested with the sample app in the browser.
@Suite(.timeLimit(.minutes(1))) struct ConditionTests {
    /// Reads and writes the first tag after a condition was set, and passes on the codes of the errors.
    private final class Reader: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
        private let prepare: @Sendable () -> Void
        private let done: @Sendable ([NFCReaderError.Code?]) -> Void

        init(prepare: @escaping @Sendable () -> Void, done: @escaping @Sendable ([NFCReaderError.Code?]) -> Void) {
            self.prepare = prepare
            self.done = done
        }

        func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
            let tag = tags[0]
            session.connect(to: tag) { _ in
                self.prepare()
                tag.readNDEF { message, readError in
                    let new = NFCNDEFMessage(records: [NFCNDEFPayload.wellKnownTypeURIPayload(string: "https://b.example")!])
                    tag.writeNDEF(new) { writeError in
                        self.done([readError, writeError].map { ($0 as? NFCReaderError)?.code })
                        session.invalidate()
                    }
                }
            }
        }

        func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

        func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {}
    }

    @Test(
        "Condition of the field: the read and the write of an app end as the hint of the page says",
        arguments: [
            ("instant", true, nil, nil),
            ("noise", 1, .readerTransceiveErrorTagResponseError, .readerTransceiveErrorTagResponseError),
            ("weak_field", true, nil, .readerTransceiveErrorTagConnectionLost),
            (
                "leave_after", 0, .readerTransceiveErrorTagConnectionLost, .readerTransceiveErrorTagConnectionLost
            ),
            ("tear_write", 1, nil, .readerTransceiveErrorTagConnectionLost),
        ] as [(String, JSON, NFCReaderError.Code?, NFCReaderError.Code?)]
    )
    func table(name: String, value: JSON, read: NFCReaderError.Code?, write: NFCReaderError.Code?) async throws {
        let simulator = Simulator()
        _ = try simulator.perform(["do": "switch", "name": "instant", "value": true])
        let id = try simulator.perform(["do": "new_tag", "product": "NTAG213", "link": "https://a.example"])["tag"] ?? .null
        _ = try simulator.perform(["do": "hold", "tag": id])
        let environment = NFCEnvironment(reader: .field(PhoneReader(simulator: simulator, source: "app")))
        let (results, result) = AsyncStream<[NFCReaderError.Code?]>.makeStream()
        let reader = Reader {
            _ = try? simulator.perform(["do": "switch", "name": .string(name), "value": value])
        } done: {
            result.yield($0)
        }
        NFCEnvironment.$scoped.withValue(environment) {
            NFCNDEFReaderSession(delegate: reader, queue: nil, invalidateAfterFirstRead: false).begin()
        }
        #expect(await results.first { _ in true } == [read, write])
        withExtendedLifetime(reader) {}

        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Sources/SimulatorServer/Page/texts.en.json"
        )
        let texts = try JSON(parsing: Array(Data(contentsOf: page)))
        let hint = try #require(texts["switch.\(name).hint"]?.string)
        for code in [read, write].compactMap({ $0 }) { #expect(hint.contains("(\(code.rawValue))")) }
    }
}
