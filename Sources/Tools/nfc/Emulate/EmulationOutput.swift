// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import TagTrace
import TextSafety
import VirtualTags

/// Prints the events of an emulation: as sentences, or as one JSON object per line.
final class EmulationOutput: Sendable {
    private let json: Bool
    private let write: @Sendable ([UInt8]) -> Void
    private let onBroken: @Sendable () -> Void
    /// Keeps lines of several threads apart.
    private let turn = Locked()
    private let words = Locked(EmulationWords())

    /// Prints events.
    ///
    /// - Parameters:
    ///   - json: whether to print JSON objects.
    ///   - write: prints the lines of an event; by default to standard output.
    ///   - onBroken: called when standard output can't be written any more.
    init(
        json: Bool,
        write: @escaping @Sendable ([UInt8]) -> Void = { StandardOutput.write($0) },
        onBroken: @escaping @Sendable () -> Void
    ) {
        self.json = json
        self.write = write
        self.onBroken = onBroken
    }

    // MARK: What the reader is

    func readyPN532(path: String, terminal: String, product: String, tag: any VirtualTag) {
        let name = NfcpyPath(line: path)?.text
        if json {
            object("ready") { writer in
                writer.member("reader", "pn532")
                writer.member("path", path)
                writer.member("terminal", terminal)
                writer.member("libnfc_device", "pn532_uart:" + path)
                writer.member("nfcpy_path", name)
                Self.describe(product, tag, &writer)
            }
            return
        }
        lines([
            "A PN532 at \(path), with \(Self.name(product, tag)) in its field",
            "  libnfc: LIBNFC_DEVICE=pn532_uart:\(path) nfc-list",
            "  nfcpy:  "
                + (name.map { "nfc.ContactlessFrontend('\($0)')" }
                    ?? "needs a path in /dev, of letters, digits and hyphens: --pn532 /dev/NAME"),
            "Ctrl-C ends.",
        ])
    }

    func readyFacing(_ path: String, terminal: String, facing: String, terminal facingTerminal: String) {
        if json {
            object("ready") { writer in
                writer.member("reader", "pn532")
                writer.member("path", path)
                writer.member("terminal", terminal)
                writer.member("libnfc_device", "pn532_uart:" + path)
                writer.member("facing_path", facing)
                writer.member("facing_terminal", facingTerminal)
                writer.member("facing_libnfc_device", "pn532_uart:" + facing)
            }
            return
        }
        lines([
            "Two PN532 in each other's field, at \(path) and \(facing)",
            "  A card:   LIBNFC_DEVICE=pn532_uart:\(facing) nfc-emulate-forum-tag4",
            "  A reader: nfc scan --reader pn532:\(path)",
            "Ctrl-C ends.",
        ])
    }

    func readyPCSC(
        reader: String,
        configuration: String,
        isInstalled: Bool,
        daemon: PrivatePCSCD?,
        product: String,
        tag: any VirtualTag
    ) {
        if json {
            object("ready") { writer in
                writer.member("reader", reader)
                writer.member("reader_conf", configuration)
                writer.member("pcsclite_csock_name", daemon?.socketPath)
                writer.member("pcscd_log", daemon?.logPath)
                writer.member("pcscd_pid", (daemon?.processIdentifier).map { Int($0) })
                Self.describe(product, tag, &writer)
            }
            return
        }
        var text = ["The reader \(reader), with \(Self.name(product, tag)) on it"]
        if let daemon {
            text += [
                "  Start programs with these settings to find it:",
                "    export PCSCLITE_CSOCK_NAME=\(daemon.socketPath)",
            ]
        } else if isInstalled {
            text += ["  It is installed. Every PC/SC program finds it."]
        } else if configuration.hasPrefix("/etc/reader.conf.d/") {
            text += ["  pcscd finds it after its next start: systemctl restart pcscd"]
        } else {
            text += [
                "  Once, for every PC/SC program:",
                "    sudo nfc emulate install --for \(ReaderOwner.current?.name ?? "USER")",
                "  Or, without root, give --start-pcscd.",
            ]
        }
        lines(text + ["Ctrl-C ends."])
    }

    private static func name(_ product: String, _ tag: any VirtualTag) -> String {
        "\(product), UID \(HexText.text(tag.identifier)),"
    }

    private static func describe(_ product: String, _ tag: any VirtualTag, _ writer: inout JSONWriter) {
        writer.member("product", product)
        writer.member("uid", hex: tag.identifier)
    }

    /// Prints a note at the start.
    func note(_ note: EmulationNote) {
        guard json else { return lines(["Note: " + note.text]) }
        object("note") { writer in
            writer.member("name", note.name)
            writer.member("message", note.text)
        }
    }

    // MARK: What happens

    func notice(_ notice: ReaderServer.Notice) {
        switch notice {
        case .connected: event("connected", "pcscd has the reader.")
        case .disconnected: event("disconnected", "pcscd has closed the reader.")
        }
    }

    func command(_ line: String, isKnown: Bool) {
        let problem = "Unknown command: \(line). For the commands: nfc emulate show --help"
        if json {
            object("command") { writer in
                writer.member("line", line)
                writer.member("ok", isKnown)
                guard !isKnown else { return }
                writer.member("error", "unknown-command")
                writer.member("message", problem)
            }
        } else if !isKnown {
            lines([problem])
        }
    }

    func saved(_ path: String) {
        if json {
            object("saved") { $0.member("file", path) }
        } else {
            lines(["Saved \(path)."])
        }
    }

    func ended(_ end: EmulationSignals.End) {
        guard json else { return }
        object("ended") { $0.member("reason", end.rawValue) }
    }

    func exchange(_ exchange: Exchange) {
        let (exchange, meanings) = words.withLock { words in
            let meanings = words.meanings(of: exchange)
            return (words.concealing(exchange), meanings)
        }
        if json {
            object("exchange") { writer in
                writer.member("layer", exchange.layer.rawValue)
                writer.member("name", exchange.name)
                writer.member("request", hex: exchange.request)
                writer.member("response", exchange.response.map { HexText.text($0) })
                writer.member("failure", exchange.failure)
                writer.member("meaning", meanings?.request)
                writer.member("answer_meaning", meanings?.answer)
            }
            return
        }
        if let rows = meanings?.rows { return lines(rows.map { "    " + $0 }) }
        let request = exchange.request.isEmpty ? "" : " " + HexText.text(exchange.request)
        let answer = exchange.response.map { $0.isEmpty ? "done" : HexText.text($0) } ?? exchange.failure ?? "no answer"
        let said = meanings.map { "  (\($0.request): \($0.answer))" } ?? ""
        lines(["\(exchange.layer.rawValue) \(exchange.name)\(request) -> \(answer)\(said)"])
    }

    // MARK: Lines

    private func event(_ name: String, _ text: String) {
        if json { object(name) { _ in } } else { lines([text]) }
    }

    private func object(_ event: String, _ body: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("event", event)
        body(&writer)
        writer.endObject()
        writer.newLine()
        print(writer.text)
    }

    private func lines(_ lines: [String]) {
        var output = StandardOutput()
        for line in lines { output.appendLine(line) }
        print(output.buffer)
    }

    private func print(_ bytes: [UInt8]) {
        turn.withLock { _ in write(bytes) }
        if StandardOutput.isBroken { onBroken() }
    }
}

/// Describes in words the frames on the air, and the APDUs that programs send by PC/SC.
struct EmulationWords {
    /// The meaning of the two sides of an exchange.
    struct Meanings {
        var request: String
        var answer: String
        /// The frames on the air, as rows of a trace's table.
        var rows: [String]?
    }

    private var air = TraceLineWriter()
    private var host = ExchangeInterpreter()
    /// Finds passwords and keys on each layer, so that they are not shown.
    private var finders: [Exchange.Layer: SecretFinder] = [:]

    /// Returns an exchange with zeros in place of passwords, PINs and keys. Call it for each exchange, in order.
    mutating func concealing(_ exchange: Exchange) -> Exchange {
        var finder = finders[exchange.layer] ?? SecretFinder()
        let secrets: [Range<Int>]
        switch exchange.layer {
        case .pcsc: secrets = finder.secrets(in: exchange.request, over: .commands)
        case .pn532: secrets = finder.secrets(inChipCommand: exchange.request)
        case .air:
            secrets = exchange.frames.map { finder.secrets(in: exchange.request, over: $0.medium) } ?? []
        }
        var shown = exchange
        shown.request = exchange.request.concealing(secrets)
        // The data starts after the chip's status byte.
        let start = exchange.layer == .pn532 ? 1 : 0
        if let response = exchange.response {
            let answer = finder.secrets(inAnswer: Array(response.dropFirst(start)))
            shown.response = response.concealing(answer.map { $0.lowerBound + start..<$0.upperBound + start })
        }
        finders[exchange.layer] = finder
        return shown
    }

    /// The meaning of an exchange; nil for a command to the reader itself, whose name is enough.
    mutating func meanings(of exchange: Exchange) -> Meanings? {
        if let frames = exchange.frames {
            let lines = air.lines(of: Trace.Entry(.exchange(frames)))
            guard let request = lines.first, let answer = lines.last else { return nil }
            let rows = lines.flatMap { line in
                line.text(showsTime: false, widthOfBytes: 47).split(separator: "\n").map(String.init)
            }
            return Meanings(request: request.meaning, answer: answer.meaning, rows: rows)
        }
        guard exchange.layer == .pcsc, exchange.name == "transmit" else { return nil }
        let request = host.meaning(of: Frame(exchange.request), over: .commands)
        let answer = exchange.response.map { host.meaning(ofAnswer: Frame($0)) } ?? exchange.failure ?? "no answer"
        return Meanings(request: request, answer: answer)
    }
}
