// SPDX-License-Identifier: Apache-2.0
#if canImport(SwiftUI) && os(iOS)
    @preconcurrency import CoreNFC
    import NFCRecorder
    import SwiftUI

    /// Two screens: one records a tag, the other asks the questions of ``Probe``. Each result is a file to share.
    ///
    /// The app needs `NFCReaderUsageDescription`, the entitlement of the format `TAG`, and in its property list the
    /// application D2760000850101 and the systems 12FC and 88B4.
    public struct RecorderScreens: View {
        public init() {}

        public var body: some View {
            TabView {
                ResultScreen(title: "Record", choices: ["Any tag"], file: "tag.json") { _ in
                    let scan = try TagScan([.iso14443, .iso15693, .iso18092], message: "Hold the tag near the phone.")
                    do {
                        let dump = try await TagDump(of: try await scan.next())
                        scan.end()
                        return String(decoding: dump.json, as: UTF8.self)
                    } catch {
                        scan.end(error)
                        throw error
                    }
                }
                ResultScreen(title: "Probe", choices: Probe.Tag.allCases.map(\.rawValue), file: "phone.jsonl") { name in
                    guard let tag = Probe.Tag(rawValue: name) else { return "" }
                    return try await Probe.answers(of: tag).joined(separator: "\n") + "\n"
                }
            }
        }
    }

    private struct ResultScreen: View {
        let title: String
        let choices: [String]
        let file: String
        let run: @MainActor (String) async throws -> String
        @State var text = ""
        @State var url: URL?

        var body: some View {
            NavigationStack {
                List {
                    ForEach(choices, id: \.self) { choice in
                        Button(choice) {
                            Task { await show(choice) }
                        }
                    }
                    if let url { ShareLink(item: url) }
                    Text(text).font(.footnote.monospaced())
                }
                .navigationTitle(title)
            }
            .tabItem { Text(title) }
        }

        private func show(_ choice: String) async {
            do {
                let result = try await run(choice)
                // The answers about each tag follow those about the tag before.
                text = url == nil || choices.count == 1 ? result : text + result
                let url = FileManager.default.temporaryDirectory.appending(path: file)
                try Data(text.utf8).write(to: url)
                self.url = url
            } catch {
                (text, url) = (error.localizedDescription, nil)
            }
        }
    }
#endif
