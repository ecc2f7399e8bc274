// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace
import Testing
import VirtualTags

@testable import ReaderEmulation  // exchanges are made here
@testable import nfc  // the output is internal

/// What an emulation says of itself, for people and in JSON.
struct EmulationOutputTests {
    private let tag: any VirtualTag

    init() throws {
        let product = try #require(TagProduct(named: "NTAG213"))
        tag = product.blank(uid: [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0x80]).makeTag()
    }

    /// The lines that an output prints.
    private func lines(json: Bool = false, _ body: (EmulationOutput) -> Void) -> [String] {
        let page = Locked<[UInt8]>([])
        body(EmulationOutput(json: json, write: { bytes in page.withLock { $0 += bytes } }, onBroken: {}))
        let text = page.withLock { String(decoding: $0, as: UTF8.self) }
        return text.split(separator: "\n").map(String.init)
    }

    /// What it prints about exchanges, in their order.
    private func lines(json: Bool = false, of exchanges: Exchange...) -> [String] {
        lines(json: json) { output in
            for exchange in exchanges { output.exchange(exchange) }
        }
    }

    // MARK: What the reader is

    @Test func `ready PN532: names its device for libnfc and nfcpy, which needs a path in /dev`() {
        let ready = { (output: EmulationOutput) in
            output.readyPN532(path: "/dev/ttyUSB7", terminal: "/dev/pts/3", product: "NTAG213", tag: tag)
        }
        #expect(
            lines(ready) == [
                "A PN532 at /dev/ttyUSB7, with NTAG213, UID 04a1b2c3d4e580, in its field",
                "  libnfc: LIBNFC_DEVICE=pn532_uart:/dev/ttyUSB7 nfc-list",
                "  nfcpy:  nfc.ContactlessFrontend('tty:USB7:pn532')", "Press Ctrl-C to stop.",
            ]
        )
        let object =
            #"{"event":"ready","reader":"pn532","path":"/dev/ttyUSB7","terminal":"/dev/pts/3","#
            + #""libnfc_device":"pn532_uart:/dev/ttyUSB7","nfcpy_path":"tty:USB7:pn532","product":"NTAG213","#
            + #""uid":"04a1b2c3d4e580"}"#
        #expect(lines(json: true, ready) == [object])
        let elsewhere = lines { $0.readyPN532(path: "/tmp/line", terminal: "/dev/pts/3", product: "X", tag: tag) }
        #expect(
            elsewhere[2] == "  nfcpy:  needs a path in /dev, of letters, digits and hyphens: --pn532 /dev/NAME"
        )
    }

    @Test func `ready reader of pcscd: says how programs find the reader, installed or not`() {
        let head = "Reader R 00 00 is ready, with NTAG213, UID 04a1b2c3d4e580, on it."
        func ready(_ configuration: String, isInstalled: Bool, json: Bool = false) -> [String] {
            lines(json: json) { output in
                output.readyPCSC(
                    reader: "R 00 00",
                    configuration: configuration,
                    isInstalled: isInstalled,
                    daemon: nil,
                    product: "NTAG213",
                    tag: tag
                )
            }
        }
        let installed = "  It is installed. Every PC/SC program finds it."
        #expect(ready("/tmp/conf", isInstalled: true) == [head, installed, "Press Ctrl-C to stop."])
        #expect(
            ready("/tmp/reader.conf.d/own", isInstalled: false) == [
                head, "  Once, for every PC/SC program:",
                "    sudo nfc emulate install --for \(ReaderOwner.current?.name ?? "USER")",
                "  Or, without root, give --start-pcscd.", "Press Ctrl-C to stop.",
            ]
        )
        let object =
            #"{"event":"ready","reader":"R 00 00","reader_conf":"/tmp/conf","pcsclite_csock_name":null,"#
            + #""pcscd_log":null,"pcscd_pid":null,"product":"NTAG213","uid":"04a1b2c3d4e580"}"#
        #expect(ready("/tmp/conf", isInstalled: false, json: true) == [object])
    }

    // MARK: What happens

    @Test func `events: each is an object in JSON, and those that a person needs are a sentence in text`() {
        let events: [(String?, String, (EmulationOutput) -> Void)] = [
            ("pcscd has opened the reader.", #""connected""#, { $0.notice(.connected) }),
            ("pcscd has closed the reader.", #""disconnected""#, { $0.notice(.disconnected) }),
            ("Saved card.nfc.", #""saved","file":"card.nfc""#, { $0.saved("card.nfc") }),
            (nil, #""ended","reason":"interrupt""#, { $0.ended(.interrupt) }),
            (nil, #""ended","reason":"termination""#, { $0.ended(.termination) }),
            (nil, #""ended","reason":"output-broken""#, { $0.ended(.outputBroken) }),
            (nil, #""ended","reason":"pcscd-ended""#, { $0.ended(.daemonEnded) }),
        ]
        for (sentence, members, event) in events {
            #expect(lines(event) == [sentence].compactMap { $0 })
            #expect(lines(json: true, event) == [#"{"event":\#(members)}"#])
        }
    }

    // MARK: Exchanges

    @Test func `printed exchange: request and response, or why there was none`() {
        let name = "GetFirmwareVersion"
        let (asked, said): ([UInt8], [UInt8]) = ([0x02], [0x32, 0x01, 0x06, 0x07])
        #expect(
            lines(
                of: Exchange(layer: .pn532, name: name, request: asked, response: said),
                Exchange(layer: .pn532, name: name, request: [], response: []),
                Exchange(layer: .pn532, name: name, request: asked, response: nil, failure: "timeout"),
                Exchange(layer: .pcsc, name: "power up", request: asked, response: nil)
            ) == [
                "pn532 GetFirmwareVersion 02 -> 32010607", "pn532 GetFirmwareVersion -> done",
                "pn532 GetFirmwareVersion 02 -> timeout", "pcsc power up 02 -> no answer",
            ]
        )
        let head = #"{"event":"exchange","layer":"pn532","name":"GetFirmwareVersion","request":"02","#
        #expect(
            lines(
                json: true,
                of: Exchange(layer: .pn532, name: name, request: asked, response: said),
                Exchange(layer: .pn532, name: name, request: asked, response: nil, failure: "timeout")
            ) == [
                head + #""response":"32010607","failure":null,"meaning":null,"answer_meaning":null}"#,
                head + #""response":null,"failure":"timeout","meaning":null,"answer_meaning":null}"#,
            ]
        )
    }

    @Test func `exchange of a card's command: command and answer are explained, commands of the reader itself are not`()
        throws
    {
        let command: [UInt8] = [0x00, 0xB0, 0x00, 0x00, 0x02]
        let read = Exchange(layer: .pcsc, name: "transmit", request: command, response: [0x00, 0x0F, 0x90, 0x00])
        var words = ExchangeExplainer()
        let said = words.meanings(of: read)
        let meanings = try #require(said)
        #expect(meanings.rows == nil && !meanings.request.isEmpty && !meanings.answer.isEmpty)
        #expect(meanings.request != meanings.answer)
        let sentence = "(\(meanings.request): \(meanings.answer))"
        #expect(lines(of: read) == ["pcsc transmit 00b0000002 -> 000f9000  \(sentence)"])
        let object = try #require(lines(json: true, of: read).first)
        #expect(object.hasSuffix(#","meaning":"\#(meanings.request)","answer_meaning":"\#(meanings.answer)"}"#))
        var lost = read
        lost.response = nil
        #expect(words.meanings(of: lost)?.answer == "no answer")
        lost.failure = "tag-removed"
        #expect(words.meanings(of: lost)?.answer == "tag-removed")
        // These are the reader's own, or have no card's command in them.
        for (layer, name) in [(.pcsc, "control"), (.pn532, "transmit")] as [(Exchange.Layer, String)] {
            let meanings = words.meanings(of: Exchange(layer: layer, name: name, request: command))
            #expect(meanings?.request == nil)
        }
    }

    @Test func `exchange on the air: the frame and its answer are printed as rows of a table`() {
        let page = [UInt8](0x10..<0x20)
        let frames = Trace.Exchange(.frames(.nfcA), request: Frame([0x30, 0x03]), answer: .success(Frame(page)))
        var exchange = Exchange(layer: .air, name: "nfc-a", request: [0x30, 0x03], response: page)
        exchange.frames = frames
        let rows = lines(of: exchange)
        #expect(rows.count == 2)
        #expect(rows.first == "       1 A > 30 03" + String(repeating: " ", count: 44) + "READ 03")
        #expect(rows.last?.hasPrefix("         A < 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f") == true, "\(rows)")
    }

    // MARK: Secrets

    @Test func `secrets: a password and its answer are zeros on the air, to the PN532 and in PC/SC`() {
        func shown(_ layer: Exchange.Layer, _ request: [UInt8], _ response: [UInt8]) -> Exchange {
            var words = ExchangeExplainer()
            var exchange = Exchange(layer: layer, name: "x", request: request, response: response)
            if layer == .air {
                exchange.frames = Trace.Exchange(.frames(.nfcA), request: Frame(request), answer: nil)
            }
            return words.concealing(exchange)
        }
        let password: [UInt8] = [0x1B, 1, 2, 3, 4]
        let onAir = shown(.air, password, [0xAB, 0xCD])
        #expect(onAir.request == [0x1B, 0, 0, 0, 0] && onAir.response == [0, 0])
        // The chip's status stays.
        let toChip = shown(.pn532, [0x40, 0x01] + password, [0x55, 0xAB, 0xCD])
        #expect(toChip.request == [0x40, 0x01, 0x1B, 0, 0, 0, 0] && toChip.response == [0x55, 0, 0])
        let key = shown(.pcsc, [0xFF, 0x82, 0, 0, 6, 1, 2, 3, 4, 5, 6], [0x90, 0x00])
        #expect(key.request == [0xFF, 0x82, 0, 0, 6, 0, 0, 0, 0, 0, 0] && key.response == [0x90, 0x00])
    }

    @Test func `secrets: the exchange after that of a password is shown`() {
        var words = ExchangeExplainer()
        func shown(_ layer: Exchange.Layer, _ request: [UInt8], _ response: [UInt8]) -> [UInt8]? {
            words.concealing(Exchange(layer: layer, name: "x", request: request, response: response)).response
        }
        let password: [UInt8] = [0x1B, 1, 2, 3, 4]
        let toChip = [0xFF, 0, 0, 0, 8, 0xD4, 0x40, 0x01] + password
        _ = shown(.pcsc, toChip, [0xD5, 0x41, 0x00, 0xAB, 0xCD, 0x90, 0x00])
        #expect(shown(.pcsc, [0x00, 0xA4, 0x04, 0x00], [0x90, 0x00]) == [0x90, 0x00])
        _ = shown(.pn532, [0x40, 0x01] + password, [0x00, 0xAB, 0xCD])
        // Three registers.
        let registers: [UInt8] = [0x06, 0x63, 0x02, 0x63, 0x03, 0x63, 0x05]
        #expect(shown(.pn532, registers, [0x80, 0x81, 0x82]) == [0x80, 0x81, 0x82])
    }

    @Test func `secrets: a write to page 2B is shown only on the layer whose GET_VERSION makes it no password page`() {
        var words = ExchangeExplainer()
        func shown(_ layer: Exchange.Layer, _ request: [UInt8], _ response: [UInt8]?) -> [UInt8] {
            var exchange = Exchange(layer: layer, name: "x", request: request, response: response)
            if layer == .air {
                exchange.frames = Trace.Exchange(.frames(.nfcA), request: Frame(request), answer: nil)
            }
            return words.concealing(exchange).request
        }
        let (ask, version): ([UInt8], [UInt8]) = ([0x60], [0, 4, 4, 2, 1, 0, 0x13, 3])
        let write: [UInt8] = [0xA2, 0x2B, 1, 2, 3, 4]
        #expect(shown(.air, ask, version) == ask)
        #expect(shown(.pn532, [0x42] + write, nil) == [0x42, 0xA2, 0x2B, 0, 0, 0, 0])
        #expect(shown(.air, write, nil) == write)
    }
}
