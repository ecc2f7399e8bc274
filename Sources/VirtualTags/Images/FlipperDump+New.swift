// SPDX-License-Identifier: Apache-2.0

extension FlipperDump {
    /// A new file, of version 4.
    static func encoded(new contents: Type2Contents) -> [UInt8] {
        let product = contents.product
        let name = FlipperLayout.products.first { $0.product == product }?.name ?? product.name
        let count = FlipperLayout.pages(of: product)
        let layout = FlipperLayout(product, pages: count)
        var lines = FlipperLine.header(deviceType: "NTAG/Ultralight", uid: contents.uid).map(\.text)
        lines += FlipperLine.nfcA(atqa: contents.atqa, sak: contents.sak).map(\.text)
        lines += [
            "# NTAG/Ultralight specific data",
            "Data format version: 2",
            "NTAG/Ultralight type: \(name)",
            "Signature: \(contents.signature.spacedHexadecimalText)",
            "Mifare version: \((contents.version ?? Array(repeating: 0, count: 8)).spacedHexadecimalText)",
        ]
        for index in 0..<3 {
            lines.append("Counter \(index): \(contents.counters[index])")
            lines.append("Tearing \(index): \([contents.tearingFlags[index]].spacedHexadecimalText)")
        }
        lines += ["Pages total: \(count)", "Pages read: \(count)"]
        let memory = Type2Silicon(contents).contents.memory
        for index in 0..<count {
            let page = layout?.memoryPage(index)
            let octets = page.map { Array(memory[($0 * 4)..<($0 * 4 + 4)]) } ?? [0, 0, 0, 0]
            lines.append("Page \(index): \(octets.spacedHexadecimalText)")
        }
        lines.append("Failed authentication attempts: \(contents.failedAuthentications)")
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }
}
