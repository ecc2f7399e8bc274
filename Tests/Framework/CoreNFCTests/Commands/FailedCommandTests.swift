// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import TagLink
import Testing

/// Checks the values beside the error of a command that failed, which a careless app looks at alone.
@Suite struct `The values beside an error` {
    @Test func `A FeliCa command that fails has no flags, no mode and no data`() throws {
        let fixture = ScriptedTag(ScriptedTag.feliCaTarget)
        guard case .feliCa(let tag) = fixture.tag else { throw ScriptedTag.OtherKind() }
        let values = Locked<[String]>([])
        let note: @Sendable (String, (any Error)?) -> Void = { text, error in
            values.withLock { $0.append(error == nil ? "no error" : text) }
        }
        let (service, block) = ([Data([0x0B, 0])], [Data([0x80, 0])])
        tag.requestService(nodeCodeList: service, completionHandler: { note("\($0.count)", $1) })
        tag.requestResponse(completionHandler: { note("\($0)", $1) })
        tag.readWithoutEncryption(
            serviceCodeList: service,
            blockList: block,
            completionHandler: { note("\($0) \($1) \($2.count)", $3) }
        )
        tag.writeWithoutEncryption(
            serviceCodeList: service,
            blockList: block,
            blockData: [Data(count: 16)],
            completionHandler: { note("\($0) \($1)", $2) }
        )
        tag.requestSystemCode(completionHandler: { note("\($0.count)", $1) })
        tag.requestServiceV2(
            nodeCodeList: service,
            completionHandler: { note("\($0) \($1) \($3.count) \($4.count)", $5) }
        )
        tag.requestSpecificationVersion(completionHandler: { note("\($0) \($1) \($2.count) \($3.count)", $4) })
        tag.resetMode(completionHandler: { note("\($0) \($1)", $2) })
        tag.sendFeliCaCommand(commandPacket: Data([4]), completionHandler: { note("\($0.count)", $1) })
        fixture.queue.sync {}
        #expect(
            values.withLock { $0 }
                == ["0", "-1", "-1 -1 0", "-1 -1", "0", "-1 -1 0 0", "-1 -1 0 0", "-1 -1", "0"]
        )
    }

    @Test func `An APDU that fails has the status word 0000`() throws {
        let read = try #require(NFCISO7816APDU(data: Data([0, 0xB0, 0, 0, 0])))
        let fixture = ScriptedTag(ScriptedTag.iso7816Target, [.failure(.lost)])
        guard case .iso7816(let tag) = fixture.tag else { throw ScriptedTag.OtherKind() }
        let values = Locked<[String]>([])
        tag.sendCommand(
            apdu: read,
            completionHandler: { data, sw1, sw2, error in
                let code = (error as? NFCReaderError)?.errorCode ?? 0
                values.withLock { $0.append("\(data.count) \(sw1) \(sw2) \(code)") }
            }
        )
        fixture.queue.sync {}
        #expect(values.withLock { $0 } == ["0 0 0 100"])
    }

    @Test func `A range of blocks that fails in the middle has no data`() throws {
        let fixture = ScriptedTag(ScriptedTag.vicinityTarget, [.success([0, 1, 1, 2, 2]), .failure(.lost)])
        guard case .iso15693(let tag) = fixture.tag else { throw ScriptedTag.OtherKind() }
        let values = Locked<[String]>([])
        tag.readMultipleBlock(
            readConfiguration: NFCISO15693ReadMultipleBlocksConfiguration(
                range: NSRange(location: 0, length: 6),
                chunkSize: 2
            ),
            completionHandler: { data, error in
                let code = (error as? NFCReaderError)?.errorCode ?? 0
                values.withLock { $0.append("\(data.count) \(code)") }
            }
        )
        // Each chunk is asked for when the one before it has come.
        for _ in 0..<4 { fixture.queue.sync {} }
        #expect(values.withLock { $0 } == ["0 100"] && fixture.channel.sent.count == 2)
    }

    @Test func `System information that fails is -1 in each field, and has no UID`() throws {
        let fixture = ScriptedTag(ScriptedTag.vicinityTarget, [.failure(.lost)])
        guard case .iso15693(let tag) = fixture.tag else { throw ScriptedTag.OtherKind() }
        let values = Locked<[String]>([])
        tag.__getSystemInfoAndUID(
            with: .highDataRate,
            completionHandler: { uid, dsfid, afi, blockSize, blockCount, icReference, error in
                let fields = [dsfid, afi, blockSize, blockCount, icReference]
                let code = (error as? NFCReaderError)?.errorCode ?? 0
                values.withLock { $0.append("\(uid?.count ?? 0) \(fields) \(code)") }
            }
        )
        fixture.queue.sync {}
        #expect(values.withLock { $0 } == ["0 [-1, -1, -1, -1, -1] 100"])
    }
}
