// SPDX-License-Identifier: Apache-2.0

/// Finds the targets in a folder, and the files of each target.
struct Discovery {
    let files: any ProjectFiles
    let reader: ConfigReader
    let plugins: Plugins

    func targets() -> [Target] {
        let paths = files.paths
        let lookup = PathLookup(paths, links: files.links)
        var targets: [Target] = []
        for path in paths where path.hasSuffix(".xcodeproj/project.pbxproj") {
            targets += XcodeProject(path, lookup: lookup, reader: reader)?.targets() ?? []
        }
        let projects = Set(paths.filter { $0.hasSuffix(".pbxproj") }.map { PathLookup.folder(PathLookup.folder($0)) })
        for path in paths {
            let name = path.split(separator: "/").last ?? ""
            // Skip the description if an Xcode project was generated from it, because that is closer to the real build.
            guard !projects.contains(PathLookup.folder(path)) else { continue }
            if name == "project.yml" || name == "project.yaml" {
                let project = XcodeGenProject(path: path, lookup: lookup, reader: reader)
                targets += project.targets() ?? []
            } else if name == "Project.swift" {
                targets += TuistProject(path: path, lookup: lookup, reader: reader, files: files).targets()
            }
        }
        let folders = FolderTargets(lookup: lookup, paths: paths, reader: reader, files: files)
        if targets.isEmpty { targets += folders.apps() }
        targets += plugins.apps(without: targets)
        let taken = Set(targets.flatMap(\.files))
        return targets + folders.modules(without: taken)
    }
}
