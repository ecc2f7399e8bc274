// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import TagLink
import TagProtocols
import Testing

/// Checks what an answer is in the forms that give a `Result`.
@Suite struct `Answers as results` {
    private static let idm = ScriptedTag.idm

    /// A tag that answers once, and what was made of the answer.
    private final class Script: Sendable {
        let fixture: ScriptedTag
        let values = Locked<[String]>([])

        init(_ target: TagTarget, _ answer: [UInt8]) { fixture = ScriptedTag(target, [.success(answer)]) }

        /// A handler that keeps the value, as a text.
        func keep<Value>(_ words: @escaping @Sendable (Value) -> String) -> @Sendable (Result<Value, any Error>) -> Void
        {
            { [values] result in
                let text: String
                switch result {
                case .success(let value): text = words(value)
                case .failure(let error): text = "\(error)"
                }
                values.withLock { $0.append(text) }
            }
        }

        /// What was made of the answer, once.
        var words: [String] {
            fixture.queue.sync {}
            return values.withLock { $0 }
        }
    }

    private static func feliCa(_ answer: [UInt8], _ call: (any NFCFeliCaTag, Script) -> Void) throws -> [String] {
        let script = Script(ScriptedTag.feliCaTarget, answer)
        guard case .feliCa(let tag) = script.fixture.tag else { throw ScriptedTag.OtherKind() }
        call(tag, script)
        return script.words
    }

    private static func vicinity(_ answer: [UInt8], _ call: (any NFCISO15693Tag, Script) -> Void) throws -> [String] {
        let script = Script(ScriptedTag.vicinityTarget, answer)
        guard case .iso15693(let tag) = script.fixture.tag else { throw ScriptedTag.OtherKind() }
        call(tag, script)
        return script.words
    }

    private static func words(_ data: [Data]) -> String { data.map { [UInt8]($0).hexText() }.joined(separator: " ") }

    private static func words(_ flag: NFCFeliCaStatusFlag) -> String { "\(flag.statusFlag1) \(flag.statusFlag2)" }

    @Test func `Of FeliCa`() throws {
        let (service, block) = ([Data([0x0B, 0])], [Data([0x80, 0])])
        let polling = try Self.feliCa([0x01] + Self.idm + Array(1...8) + [0xFE, 0]) { tag, script in
            tag.polling(
                systemCode: Data([0xFE, 0]),
                requestCode: .systemCode,
                timeSlot: .max1,
                resultHandler: script.keep {
                    "\(Self.words([$0.manufactureParameter])) \([UInt8]($0.requestData ?? Data()).hexText())"
                }
            )
        }
        #expect(polling == ["0102030405060708 fe00"])
        let versions = try Self.feliCa([0x03] + Self.idm + [1, 5, 6]) { tag, script in
            tag.requestService(nodeCodeList: service, resultHandler: script.keep { Self.words($0) })
        }
        #expect(versions == ["0506"])
        let mode = try Self.feliCa([0x05] + Self.idm + [2]) { tag, script in
            tag.requestResponse(resultHandler: script.keep { "\($0)" })
        }
        #expect(mode == ["2"])
        let read = try Self.feliCa([0x07] + Self.idm + [0, 7, 1] + [UInt8](repeating: 9, count: 16)) { tag, script in
            tag.readWithoutEncryption(
                serviceCodeList: service,
                blockList: block,
                resultHandler: script.keep { "\(Self.words($0.0)) \(Self.words($0.1))" }
            )
        }
        #expect(read == ["0 7 " + String(repeating: "09", count: 16)])
        let write = try Self.feliCa([0x09] + Self.idm + [1, 7]) { tag, script in
            tag.writeWithoutEncryption(
                serviceCodeList: service,
                blockList: block,
                blockData: [Data(count: 16)],
                resultHandler: script.keep { Self.words($0) }
            )
        }
        #expect(write == ["1 7"])
        let systems = try Self.feliCa([0x0D] + Self.idm + [2, 0, 3, 0x12, 0xFC]) { tag, script in
            tag.requestSystemCode(resultHandler: script.keep { Self.words($0) })
        }
        #expect(systems == ["0003 12fc"])
        let services = try Self.feliCa([0x33] + Self.idm + [0, 7, 0x41, 1, 1, 2, 3, 4]) { tag, script in
            tag.requestServiceV2(
                nodeCodeList: service,
                resultHandler: script.keep {
                    let (aes, des) = ($0.nodeKeyVersionListAES ?? [], $0.nodeKeyVersionListDES ?? [])
                    return
                        "\($0.statusFlag1) \($0.statusFlag2) \($0.encryptionIdentifier.rawValue) \(Self.words(aes)) \(Self.words(des))"
                }
            )
        }
        #expect(services == ["0 7 65 0102 0304"])
        let version = try Self.feliCa([0x3D] + Self.idm + [0, 7, 0, 1, 5, 1, 2, 3]) { tag, script in
            tag.requestSpecificationVersion(
                resultHandler: script.keep {
                    "\($0.statusFlag1) \($0.statusFlag2) \(Self.words([$0.basicVersion ?? Data(), $0.optionVersion ?? Data()]))"
                }
            )
        }
        #expect(version == ["0 7 0105 0203"])
        let reset = try Self.feliCa([0x3F] + Self.idm + [1, 7]) { tag, script in
            tag.resetMode(resultHandler: script.keep { Self.words($0) })
        }
        #expect(reset == ["1 7"])
        let raw = try Self.feliCa([0x05] + Self.idm + [2]) { tag, script in
            tag.sendFeliCaCommand(commandPacket: Data([4] + Self.idm), resultHandler: script.keep { Self.words([$0]) })
        }
        #expect(raw == ["0b05" + Self.idm.hexText() + "02"])
    }

    @Test(arguments: [([0xCA, 0xFE, 0x91, 0xAF], "cafe 91 af"), ([0x6A, 0x82], " 6a 82")] as [([UInt8], String)])
    func `Of APDUs`(answer: [UInt8], words: String) throws {
        let read = try #require(NFCISO7816APDU(data: Data([0, 0xB0, 0, 0, 0])))
        let text: @Sendable (NFCISO7816ResponseAPDU) -> String = { response in
            let status = [[response.statusWord1], [response.statusWord2]].map { $0.hexText() }.joined(separator: " ")
            return [UInt8](response.payload ?? Data()).hexText() + " " + status
        }
        let card = Script(ScriptedTag.iso7816Target, answer)
        guard case .iso7816(let tag) = card.fixture.tag else { throw ScriptedTag.OtherKind() }
        tag.sendCommand(apdu: read, resultHandler: card.keep(text))
        #expect(card.words == [words])
        let desfire = Script(ScriptedTag.miFareTarget(takesISODEP: true), answer)
        guard case .miFare(let tag) = desfire.fixture.tag else { throw ScriptedTag.OtherKind() }
        tag.sendMiFareISO7816Command(read, resultHandler: desfire.keep(text))
        #expect(desfire.words == [words])
    }

    @Test(arguments: [([0xCA, 0xFE, 0x91, 0xAF], [0xCA, 0xFE]), ([0x6A, 0x82], nil)] as [([UInt8], [UInt8]?)])
    func `Of APDUs, without a closure`(answer: [UInt8], payload: [UInt8]?) async throws {
        let read = try #require(NFCISO7816APDU(data: Data([0, 0xB0, 0, 0, 0])))
        let (_, card) = try ScriptedTag.iso7816(.success(answer))
        let (_, desfire) = try ScriptedTag.miFare(.success(answer), takesISODEP: true)
        let responses: [NFCISO7816ResponseAPDU] = [
            try await card.sendCommand(apdu: read), try await desfire.sendMiFareISO7816Command(read),
        ]
        for response in responses {
            #expect([response.statusWord1, response.statusWord2] == Array(answer.suffix(2)))
            #expect(response.payload == payload.map { Data($0) })
        }
    }

    @Test func `Of a MIFARE command`() throws {
        let script = Script(ScriptedTag.miFareTarget(takesISODEP: false), [1, 2])
        guard case .miFare(let tag) = script.fixture.tag else { throw ScriptedTag.OtherKind() }
        tag.sendMiFareCommand(commandPacket: Data([0x30, 3]), resultHandler: script.keep { Self.words([$0]) })
        #expect(script.words == ["0102"])
    }

    @Test func `Of ISO 15693`() throws {
        let flags = NFCISO15693RequestFlag.highDataRate
        let two = NSRange(location: 0, length: 2)
        @Sendable func response(_ value: (NFCISO15693ResponseFlag, Data)) -> String {
            "\(value.0.rawValue) \(Self.words([value.1]))"
        }
        let calls: [(answer: [UInt8], words: String, call: (any NFCISO15693Tag, Script) -> Void)] = [
            (
                [0, 1, 2], "0102",
                { $0.readSingleBlock(requestFlags: flags, blockNumber: 1, resultHandler: $1.keep { Self.words([$0]) }) }
            ),
            (
                [0, 1, 2], "01 02",
                {
                    $0.readMultipleBlocks(
                        requestFlags: flags,
                        blockRange: two,
                        resultHandler: $1.keep { Self.words($0) }
                    )
                }
            ),
            (
                [0, 1, 2], "01 02",
                {
                    $0.fastReadMultipleBlocks(
                        requestFlags: flags,
                        blockRange: two,
                        resultHandler: $1.keep { Self.words($0) }
                    )
                }
            ),
            (
                [0, 1, 2], "01 02",
                {
                    $0.extendedFastReadMultipleBlocks(
                        requestFlags: flags,
                        blockRange: two,
                        resultHandler: $1.keep { Self.words($0) }
                    )
                }
            ),
            (
                [0, 1, 2], "0102",
                {
                    $0.extendedReadSingleBlock(
                        requestFlags: flags,
                        blockNumber: 1,
                        resultHandler: $1.keep { Self.words([$0]) }
                    )
                }
            ),
            (
                [0, 1, 2], "0102",
                {
                    $0.customCommand(
                        requestFlags: flags,
                        customCommandCode: 0xA0,
                        customRequestParameters: Data(),
                        resultHandler: $1.keep { Self.words([$0]) }
                    )
                }
            ),
            (
                [4, 1, 2], "4 0102",
                {
                    $0.authenticate(
                        requestFlags: flags,
                        cryptoSuiteIdentifier: 0,
                        message: Data([1]),
                        resultHandler: $1.keep { response($0) }
                    )
                }
            ),
            (
                [4, 1, 2], "4 0102",
                {
                    $0.keyUpdate(
                        requestFlags: flags,
                        keyIdentifier: 0,
                        message: Data([1]),
                        resultHandler: $1.keep { response($0) }
                    )
                }
            ),
            ([4, 1, 2], "4 0102", { $0.readBuffer(requestFlags: flags, resultHandler: $1.keep { response($0) }) }),
            (
                [4, 1, 2], "4 0102",
                {
                    $0.sendRequest(
                        requestFlags: 2,
                        commandCode: 0xA0,
                        data: Data(),
                        resultHandler: $1.keep { response(($0.0, $0.1 ?? Data())) }
                    )
                }
            ),
            (
                [0, 1, 0], "1 0",
                {
                    $0.extendedGetMultipleBlockSecurityStatus(
                        requestFlags: flags,
                        blockRange: two,
                        resultHandler: $1.keep { $0.blockSecurityStatus.map(String.init).joined(separator: " ") }
                    )
                }
            ),
            (
                [0, 0x0F] + ScriptedTag.uid + [1, 2, 27, 3, 4], "e007010203040506 1 2 4 28 4",
                {
                    $0.getSystemInfo(
                        requestFlags: flags,
                        resultHandler: $1.keep {
                            "\(Self.words([$0.uniqueIdentifier])) \($0.dataStorageFormatIdentifier) \($0.applicationFamilyIdentifier) \($0.blockSize) \($0.totalBlocks) \($0.icReference)"
                        }
                    )
                }
            ),
        ]
        for (index, (answer, words, call)) in calls.enumerated() {
            #expect(try Self.vicinity(answer, call) == [words], "\(index)")
            // An error of the tag is one in each form, and comes once.
            let failed = try Self.vicinity([1, 0x10], call)
            #expect(failed.count == 1 && failed.first?.contains("Code=102") == true, "\(index)")
        }
    }

    @Test(
        arguments: [(0, 0, true), (256, 60, true), (257, 0, false), (-1, 0, false), (0, 60.5, false), (0, -0.5, false)]
            as [(Int, Double, Bool)]
    )
    func `A command may be sent again so often, after so long`(retries: Int, interval: Double, isAllowed: Bool)
        async throws
    {
        let (channel, tag) = try ScriptedTag.iso15693(.success([0, 1]))
        let configuration = NFCISO15693CustomCommandConfiguration(
            manufacturerCode: 7,
            customCommandCode: 0xA0,
            requestParameters: nil,
            maximumRetries: retries,
            retryInterval: interval
        )
        let error = await readerError { try await tag.sendCustomCommand(commandConfiguration: configuration) }
        #expect(error?.code == (isAllowed ? nil : .tagCommandConfigurationErrorInvalidParameters))
        #expect(channel.sent.count == (isAllowed ? 1 : 0))
    }
}
