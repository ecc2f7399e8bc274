// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing

@testable import TagProtocols

/// A Type 5 tag that left before it confirmed a write of its capability container holds the old one or the new one, and only it
/// knows which.
@Suite struct `A Type 5 tag whose container was not confirmed` {
    typealias Step = ScriptedLink.Step

    private static let uid = "3322110008 2402e0"
    private static let read = "02 20 00"

    /// A write of the first block that is sent three times and not answered.
    private static func unconfirmed(_ bytes: String, first flags: String = "02 21") -> [Step] {
        let named = "22 21" + uid + "00" + bytes
        return [
            .exchange(flags == "02 21" ? flags + "00" + bytes : named, .timeout), .exchange(named, .timeout),
            .exchange(named, .timeout),
        ]
    }

    private static func tag(_ steps: [Step]) -> (Type5Tag, ScriptedLink) {
        let link = ScriptedLink(steps, technology: .nfcV)
        return (Type5Tag(target: NFCVTarget(uid: bytes("e002240800112233")), link: link, isAlone: true), link)
    }

    private static let formatting: [Step] = [
        .exchange("022b", "00 04" + uid + "1b03"), .exchange("22 21" + uid + "01 0300fe00", "00"),
    ]
    private static let blank = Step.exchange("02230003", "00" + String(repeating: "00", count: 16))

    @Test func `is asked for it again after a format, and is empty or still blank`() async throws {
        for isFormatted in [true, false] {
            let now = Step.exchange(Self.read, isFormatted ? "00 e1400d01" : "00 00000000")
            let (tag, link) = Self.tag([Self.blank] + Self.formatting + Self.unconfirmed("e1400d01") + [now])
            #expect(await errorCode { () throws(TagError) in try await tag.format() } == .tagLost)
            tag.wasActivated()
            if isFormatted {
                let found = try await tag.detectNDEF()
                #expect(found.capacity == 13 * 8 - 2 && found.messageLength == 0 && found.access == .readWrite)
            } else {
                let code = await errorCode { () throws(TagError) in _ = try await tag.detectNDEF() }
                #expect(code == .noCapabilityContainer)
            }
            #expect(link.remaining == 0)
        }
    }

    @Test func `can be formatted again`() async throws {
        let again = [Step.exchange(Self.read, "00 00000000")] + Self.formatting
        let (tag, link) = Self.tag(
            [Self.blank] + Self.formatting + Self.unconfirmed("e1400d01") + again + [
                .exchange("02 21 00 e1400d01", "00")
            ]
        )
        #expect(await errorCode { () throws(TagError) in try await tag.format() } == .tagLost)
        tag.wasActivated()
        try await tag.format()
        #expect(try await tag.detectNDEF().access == .readWrite)
        #expect(link.remaining == 0)
    }

    @Test func `is not formatted again once it says that it is read-only`() async {
        let (tag, link) = Self.tag(
            [Self.blank] + Self.formatting + Self.unconfirmed("e1400d01") + [.exchange(Self.read, "00 e1430d01")]
        )
        #expect(await errorCode { () throws(TagError) in try await tag.format() } == .tagLost)
        tag.wasActivated()
        #expect(await errorCode { () throws(TagError) in try await tag.format() } == .readOnly)
        #expect(link.remaining == 0)
    }

    @Test func `is asked for it again after a lock, which goes on from either`() async throws {
        for isReadOnly in [true, false] {
            let start = Step.exchange("02230003", "00 e1400301 0300fe00 00000000 00000000")
            // It was called by its UID and has not answered, and is until it does.
            let now = Step.exchange("22 20" + Self.uid + "00", isReadOnly ? "00 e1430301" : "00 e1400301")
            let locks = (0..<7).map { Step.exchange("02 22" + hex([UInt8($0)]), "00") }
            let (tag, link) = Self.tag(
                [start] + Self.unconfirmed("e1430301", first: "22 21") + [now]
                    + [.exchange("22 21" + Self.uid + "00 e1430301", "00")] + locks
            )
            #expect(await errorCode { () throws(TagError) in try await tag.lock() } == .tagLost)
            tag.wasActivated()
            #expect(try await tag.detectNDEF().access == (isReadOnly ? .readOnly : .readWrite))
            try await tag.lock()
            #expect(try await tag.detectNDEF().access == .readOnly)
            // It is done now.
            #expect(await errorCode { () throws(TagError) in try await tag.lock() } == .readOnly)
            #expect(link.remaining == 0)
        }
    }
}
