// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

/// Finding tags of NFC-B (ISO/IEC 14443-3, 7), NFC-F (JIS X 6319-4) and NFC-V (ISO/IEC 15693-3): exact exchanges.
struct ActivationTests {
    // MARK: NFC-B

    @Test(arguments: try Scenario.all(in: "nfc-b.txt"))
    func `NFC-B activation: each call makes exactly the exchanges of nfc-b.txt`(scenario: Scenario) async {
        for part in scenario.cases {
            let link = ScriptedLink(.nfcB)
            let activation = NFCBActivation(link: link)
            await Script(part.text).run(on: link) { call in
                guard call.name != "halt" else {
                    try await activation.halt(NFCBTarget(bytes("50 01020304 00000000 008171")))
                    return "ok"
                }
                let found = try await activation.findAll(
                    applicationFamily: call.bytes(0)[0],
                    waking: call.name == "wake-cards",
                    limit: call.arguments.count > 1 ? call.number(1) : 16
                )
                return found.map { "\($0.identifier[0])" }.joined(separator: " ")
            }
        }
    }

    @Test func `NFC-B ATQB: protocol information gives ISO-DEP, CID support, frame size and waiting time`() throws {
        func text(_ info: String) throws -> String {
            let target = try NFCBTarget(bytes("50 11223344 a1a2a3a4" + info))
            #expect(target.identifier == bytes("11223344") && target.applicationData == bytes("a1a2a3a4"))
            let time = target.frameWaitingTime.carrierPeriods / 4096
            return
                "\(target.isISODEP) \(target.supportsCID) \(target.hasProprietaryApplicationData) \(target.maximumFrameSize) \(time)"
        }
        #expect(try text("00 01 4f") == "true true false 16 16")
        #expect(try text("00 70 e2 80") == "false false true 128 16384")
        #expect(try text("00 81 71") == "true true true 256 128")
        for info in ["00 01 44", "00 01 48"] { #expect(try text(info).contains("false 16 16")) }
    }

    // MARK: NFC-F

    @Test(arguments: try Scenario.all(in: "nfc-f.txt"))
    func `NFC-F polling: each call makes exactly the exchanges of nfc-f.txt`(scenario: Scenario) async {
        var times: [String: Airtime] = [:]
        for slots: Int64 in [1, 4, 16] {
            times["slots\(slots)"] = Airtime(carrierPeriods: (512 + 256 * slots) * 64) + .milliseconds(1)
        }
        func text(_ card: NFCFPolling.Answer) -> String {
            let system = card.target.systemCode.map { String($0, radix: 16) } ?? "nil"
            return hex(card.target.idm.suffix(1)) + ":\(system):" + (card.requestData.map { hex($0) } ?? "nil")
        }
        for part in scenario.cases {
            let link = ScriptedLink(.nfcF)
            await Script(part.text, times: times).run(on: link) { call in
                let found = try await NFCFPolling(link: link).poll(
                    systemCode: UInt16(call.arguments[0], radix: 16) ?? 0,
                    request: .init(rawValue: UInt8(call.number(1))) ?? .none,
                    timeSlots: UInt8(call.number(2))
                )
                return found.map(text).joined(separator: " ")
            }
        }
    }

    // MARK: NFC-V

    @Test(arguments: try Scenario.all(in: "nfc-v.txt"))
    func `NFC-V inventory: each call makes exactly the exchanges of nfc-v.txt`(scenario: Scenario) async {
        for part in scenario.cases {
            let link = ScriptedLink(.nfcV)
            await Script(part.text).run(on: link) { call in
                let found = try await NFCVInventory(link: link).findAll(
                    applicationFamily: call.bytes(0).first,
                    limit: call.arguments.count > 1 ? call.number(1) : 16
                )
                return found.map { hex([$0.uid[7], $0.dsfid]) }.joined(separator: " ")
            }
        }
    }

    @Test func `NFC-V inventory: 6.18 ms for a tag alone, and badAnswer where tags always collide`() async throws {
        let link = ScriptedLink(.nfcV, exchanges: "> 260100 < 00 05 33221100082402e0")
        #expect(try await NFCVInventory(link: link).findAll() == [NFCVTarget(uid: bytes("e002240800112233"), dsfid: 5)])
        #expect(abs(link.statistics.airtime.microseconds - 6180) < 5)
        // Down to the end of a UID.
        let endless = EndlessLink(.nfcV, failure: .collision) { _, _ in nil }
        #expect(await errorCode { _ = try await NFCVInventory(link: endless).findAll() } == .badAnswer)
    }
}
