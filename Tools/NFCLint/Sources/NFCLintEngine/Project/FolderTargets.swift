// SPDX-License-Identifier: Apache-2.0

/// Creates targets for folders without a project: an app for each Info.plist, and modules of packages.
struct FolderTargets {
    let lookup: PathLookup
    let paths: [String]
    let reader: ConfigReader
    let files: any ProjectFiles

    /// Creates an app for each Info.plist that belongs to no project.
    func apps() -> [Target] {
        let lists = paths.filter { $0.hasSuffix("Info.plist") && !$0.contains("GoogleService") }
        let inner = lists.map { folder(of: $0, among: lists) }
        var result: [Target] = []
        for (path, folder) in zip(lists, inner) {
            guard let root = reader.read(path), root.entries != nil else { continue }
            let others = inner.filter { $0 != folder && ($0.hasPrefix(folder + "/") || folder.isEmpty) }
            let files = lookup.files(under: folder).filter { file in
                !others.contains { file.hasPrefix($0 + "/") }
            }
            let entitlements = files.filter { $0.hasSuffix(".entitlements") }
            // With several files, use the one that is not for debugging.
            let chosen =
                entitlements.count <= 1
                ? entitlements.first : entitlements.first { !$0.lowercased().contains("debug") }
            var variant = Variant(info: ConfigFile(path: path, root: root), isInfoKnown: true)
            if let chosen, let value = reader.read(chosen) {
                variant.entitlements = ConfigFile(path: chosen, root: value)
                variant.areEntitlementsKnown = true
            }
            let name = folder.split(separator: "/").last.map(String.init) ?? "app"
            var missing = ["The folder has no project file, so the minimum iOS version is unknown."]
            if chosen == nil { missing.append("No entitlements were found.") }
            result.append(
                Target(
                    name: name,
                    kind: files.contains { $0.hasSuffix(".podspec") } ? .library : kind(root),
                    place: Place(path),
                    variants: [variant],
                    files: files,
                    missing: missing
                )
            )
        }
        return result
    }

    /// The folder of the app that an Info.plist belongs to: the nearest parent folder that contains sources.
    private func folder(of path: String, among lists: [String]) -> String {
        var folder = PathLookup.folder(path)
        while !folder.isEmpty,
            !lookup.files(under: folder).contains(where: { $0.hasSuffix(".swift") || $0.hasSuffix(".m") })
        {
            let parent = PathLookup.folder(folder)
            // Don't use the project's root folder if it also contains other apps.
            let isShared = lists.contains { $0 != path && PathLookup.folder($0).hasPrefix(parent) }
            if isShared, parent.isEmpty { break }
            folder = parent
        }
        return folder
    }

    private func kind(_ root: ConfigValue) -> TargetKind {
        if root["NSExtension"] != nil { return .appExtension }
        if root["WKApplication"] != nil || root["WKWatchKitApp"] != nil { return .other }
        switch root["CFBundlePackageType"]?.string {
        case "BNDL": return .test
        case "FMWK": return .library
        default: return .app
        }
    }

    /// Creates modules for the sources that belong to no target.
    func modules(without taken: Set<String>) -> [Target] {
        var groups: [String: [String]] = [:]
        let named = targetFolders()
        for path in paths where path.hasSuffix(".swift") || path.hasSuffix(".m") || path.hasSuffix(".mm") {
            guard !taken.contains(path) else { continue }
            let parts = path.split(separator: "/").map(String.init)
            let isTest = parts.dropLast().contains { $0 == "Tests" || $0.hasSuffix("Tests") || $0.hasSuffix("UITests") }
            guard !isTest, parts.last != "Package.swift" else { continue }
            var name = ""
            if let folder = named.first(where: { path.hasPrefix($0 + "/") }) {
                name = folder
            } else if let sources = parts.lastIndex(of: "Sources"), sources + 2 < parts.count {
                name = parts[...(sources + 1)].joined(separator: "/")
            } else if parts.count > 1 {
                name = parts[0]
            }
            groups[name, default: []].append(path)
        }
        for path in StringTables.paths(paths) where !taken.contains(path) {
            // A language folder is inside the folder of its module.
            let parts = path.split(separator: "/").dropLast().filter { !$0.hasSuffix(".lproj") }
            let folder = parts.joined(separator: "/")
            let owner = groups.keys.filter { folder == $0 || folder.hasPrefix($0 + "/") }.max { $0.count < $1.count }
            // Texts outside all modules may belong to any module.
            for group in owner.map({ [$0] }) ?? Array(groups.keys) { groups[group]?.append(path) }
        }
        return groups.sorted { $0.key < $1.key }.map { group in
            Target(
                name: group.key.split(separator: "/").last.map(String.init) ?? "sources",
                kind: .library,
                place: Place(group.value[0]),
                variants: [Variant()],
                files: group.value
            )
        }
    }

    /// The target folders that package manifests name, innermost first.
    private func targetFolders() -> [String] {
        var folders: Set<String> = []
        for path in paths where path == "Package.swift" || path.hasSuffix("/Package.swift") {
            guard let manifest = files.bytes(path).map({ String(decoding: $0, as: UTF8.self) }) else { continue }
            let root = PathLookup.folder(path)
            for match in manifest.matches(of: #/path:\s*"(?<folder>[^"]+)"/#) where !match.folder.hasPrefix("..") {
                folders.insert(root.isEmpty ? String(match.folder) : "\(root)/\(match.folder)")
            }
        }
        return folders.sorted { $0.count > $1.count }
    }
}
