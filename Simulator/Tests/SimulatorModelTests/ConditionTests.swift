// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation
import SimulatorModel
import Testing

/// The conditions of the field do what the page says. Those of the phone are tested with the sample app in the browser.
@Suite(.timeLimit(.minutes(1))) struct ConditionTests {
    @Test(
        "Field condition switched on: an app's read and write end with the error codes in the switch's hint",
        arguments: [
            ("instant", true, [nil, nil]),
            ("noise", 1, [.readerTransceiveErrorTagConnectionLost, .readerTransceiveErrorTagConnectionLost]),
            ("weak_field", true, [nil, .ndefReaderSessionErrorTagUpdateFailure]),
            ("leave_after", 0, [.readerTransceiveErrorTagConnectionLost, .readerTransceiveErrorTagConnectionLost]),
            ("tear_write", 1, [nil, .ndefReaderSessionErrorTagUpdateFailure]),
        ] as [(String, JSON, [NFCReaderError.Code?])]
    )
    func table(name: String, value: JSON, codes: [NFCReaderError.Code?]) async throws {
        let simulator = Simulator()
        _ = try simulator.perform(["do": "switch", "name": "instant", "value": true])
        let id = try simulator.perform(["do": "new_tag", "product": "NTAG213", "link": "https://a.example"])["tag"]
        let app = try TestApp(simulator, writing: "https://b.example") {
            _ = try? simulator.perform(["do": "switch", "name": .string(name), "value": value])
        }
        let found = try await app.scan { _, event in
            if case .active = event { _ = try simulator.perform(["do": "hold", "tag": id ?? .null]) }
        }
        #expect(found == codes)

        let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/SimulatorServer/Page/texts.en.json")
        let texts = try JSON(parsing: Array(Data(contentsOf: page)))
        let hint = try #require(texts["switch.\(name).hint"]?.string)
        for code in codes.compactMap({ $0 }) { #expect(hint.contains("(\(code.rawValue))")) }
    }
}
