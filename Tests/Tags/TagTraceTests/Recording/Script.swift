// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace

/// Recordings that are written by hand, line by line.
enum Script {
    /// A call without a number, and its outcome.
    static func call(_ call: String, _ outcome: String = #""done":true"#) -> [String] {
        [#"{"us":0,"do":\#(call)}"#, #"{"us":0,\#(outcome)}"#]
    }

    /// A frame to a tag, and its answer in hex.
    static func send(_ number: Int, _ hex: String, _ answer: String, tag: Int? = 1, bits: Int? = nil) -> [String] {
        let tag = tag.map { #""tag":\#($0),"# } ?? ""
        let bits = bits.map { #","bits":\#($0),"checksum":"none""# } ?? ""
        return [
            #"{"n":\#(number),"us":0,"do":"send",\#(tag)"technology":"nfc-a","hex":"\#(hex)","timeout_us":1}"#,
            #"{"n":\#(number),"us":0,"got":"\#(answer)"\#(bits)}"#,
        ]
    }

    /// A look that finds two tags, with this number and the next one.
    static func look(_ first: Int, sak: String = "00") -> [String] {
        let tags = [first, first + 1].map { number in
            #"{"tag":\#(number),"technology":"nfc-a","atqa":"0044","sak":"\#(sak)","uid":"0\#(number)","#
                + #""maximum_frame_length":64,"counts_air":false}"#
        }
        return [#"{"us":0,"do":"discover","technologies":["nfc-a"],"systems":[]}"#] + tags + [#"{"us":0,"found":2}"#]
    }

    static func recording(
        kind: String = "discovering",
        cutOff: Bool = false,
        reportsPresence: Bool = true,
        _ lines: [String]
    ) throws -> Recording {
        let head =
            #"{"opencorenfc_recording":1,"reader":"R","kind":"\#(kind)","technologies":["nfc-a","nfc-v"],"#
            + #""maximum_frame_length":64,"tells_presence":\#(reportsPresence)}"#
        let text = ([head] + lines).joined(separator: "\n") + (cutOff ? "\n{" : "\n")
        return try Recording(parsing: Array(text.utf8))
    }

    static func replay(_ lines: [String]) throws -> RecordingReplay { RecordingReplay(try recording(lines)) }
}

extension AttachedReader {
    var discovering: (any DiscoveringDriver)? { if case .discovering(let driver) = self { driver } else { nil } }
    var field: (any FieldDriver)? { if case .field(let driver) = self { driver } else { nil } }
}

extension DiscoveredTag {
    /// The link of a tag that takes frames.
    var frames: (any SelfActivatingLink)? { if case .frames(let link) = port { link } else { nil } }
}

extension FrameLink {
    @discardableResult
    func send(_ bytes: [UInt8]) async throws(LinkError) -> Frame {
        try await transceive(Frame(bytes), timeout: .milliseconds(5))
    }
}
