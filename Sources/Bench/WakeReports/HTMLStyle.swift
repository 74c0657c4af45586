/// What is the same on every page: colours of the light and the dark scheme, the legend, and what the buttons do.
enum HTMLStyle {
    static let legend = """
        <p class="legend"><span class="dot b-relaunch"></span>relaunch <span class="dot b-resume"></span>resume \
        <span class="dot b-background-deliver"></span>background <span class="dot b-foreground-deliver"></span>foreground \
        <span class="dot b-defer"></span>defer <span class="dot b-coalesce"></span>coalesce \
        <span class="dot b-drop"></span>drop <span class="dot b-deny"></span>deny \
        <span class="bar s-active"></span>active <span class="bar s-inactive"></span>inactive \
        <span class="bar s-background"></span>background <span class="bar s-suspended"></span>suspended \
        <span class="cross l-force-quit">✕</span>force quit <span class="cross l-exit">✕</span>process ended \
        <span class="cross l-note">⚑</span>note <span class="cross l-act">▾</span>user or phone \
        <span class="bar s-locked"></span>locked</p>

        """

    static let style = """
        :root{--text:#222;--back:#fff;--soft:#555;--band:#f6f6f6;--edge:#ddd;--rule:#f0f0f0;--hollow:#fff;--bad:#b00020;\
        --relaunch:#6a1b9a;--resume:#1565c0;--background:#00897b;--foreground:#43a047;--defer:#ef6c00;--coalesce:#8d6e63;\
        --drop:#757575;--deny:#c62828;--active:#a5d6a7;--inactive:#fff59d;--inback:#90caf9;--suspended:#e0e0e0}
        @media (prefers-color-scheme: dark){:root{--text:#e4e4e4;--back:#161618;--soft:#a5a5a8;--band:#202023;--edge:#3a3a3e;\
        --rule:#27272b;--hollow:#161618;--bad:#ff8a80;--relaunch:#ce93d8;--resume:#64b5f6;--background:#4db6ac;\
        --foreground:#81c784;--defer:#ffb74d;--coalesce:#bcaaa4;--drop:#9e9e9e;--deny:#ef5350;--active:#2e6b32;\
        --inactive:#7a7130;--inback:#1f4f82;--suspended:#3d3d42}}
        body{font:14px/1.4 system-ui,sans-serif;margin:1.5rem;color:var(--text);background:var(--back)}
        h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:1.5rem}.meta,.legend{color:var(--soft)}
        .fault,.missed td:first-child{color:var(--bad);font-weight:bold}.cut{font-weight:bold}pre{margin:.2rem 0;font-size:12px}
        table{border-collapse:collapse;font-size:13px}td,th{padding:2px 10px 2px 0;text-align:left;vertical-align:top}
        tr:nth-child(even){background:var(--band)}
        .chart{display:flex;border:1px solid var(--edge)}.names{flex:none;background:var(--band)}
        .scroll{overflow-x:auto;flex:1}.rows{display:block;min-width:100%}.rows svg{overflow:visible}
        .names text{font-size:13px;dominant-baseline:central;fill:var(--text)}.names .source{fill:var(--soft)}
        .names .sub{fill:var(--soft);font-style:italic}
        .rule{stroke:var(--rule)}.end{stroke:var(--soft);stroke-dasharray:4 3}
        #axis line{stroke:var(--soft)}#axis text{font-size:10px;fill:var(--soft)}.callback{fill:var(--text)}
        .dot{display:inline-block;width:9px;height:9px;border-radius:5px;margin-right:4px;border:2px solid transparent;\
        box-sizing:border-box}.bar{display:inline-block;width:16px;height:9px;margin:0 4px}.cross{margin:0 4px;font-weight:bold}
        .v-relaunch{fill:var(--relaunch)}.v-resume{fill:var(--resume)}.v-background-deliver{fill:var(--background)}
        .v-foreground-deliver{fill:var(--foreground)}.v-defer,.v-coalesce,.v-drop,.v-deny{fill:var(--hollow);stroke-width:2}
        .v-defer{stroke:var(--defer)}.v-coalesce{stroke:var(--coalesce)}.v-drop{stroke:var(--drop)}.v-deny{stroke:var(--deny)}
        .b-relaunch{background:var(--relaunch)}.b-resume{background:var(--resume)}
        .b-background-deliver{background:var(--background)}.b-foreground-deliver{background:var(--foreground)}
        .b-defer{border-color:var(--defer)}.b-coalesce{border-color:var(--coalesce)}
        .b-drop{border-color:var(--drop)}.b-deny{border-color:var(--deny)}
        .s-active{fill:var(--active);background:var(--active)}.s-inactive{fill:var(--inactive);background:var(--inactive)}
        .s-background{fill:var(--inback);background:var(--inback)}
        .s-suspended{fill:var(--suspended);background:var(--suspended)}
        .exit path,.force-quit path{fill:none;stroke:var(--text);stroke-width:2}.force-quit path{stroke:var(--deny);stroke-width:3}
        .note path{fill:var(--defer);stroke:var(--defer)}.act path{fill:var(--relaunch)}
        .s-locked{fill:var(--inactive);background:var(--inactive)}
        .l-force-quit{color:var(--deny)}.l-note{color:var(--defer)}.l-act{color:var(--relaunch)}
        """

    /// Zooming keeps the instant in the middle of the view where it is, or the one under the pointer when the wheel turns with Control
    /// held; the axis gets marks for what can be seen.
    static let script = """
        const rows=document.getElementById('rows'),view=document.getElementById('scroll'),axis=document.getElementById('axis');
        let width=100;const end=+rows.dataset.end,margin=0.007;
        function zoom(to,at){const before=rows.getBoundingClientRect().width,left=view.scrollLeft;
        width=Math.min(20000,Math.max(100,to));rows.style.width=width+'%';
        view.scrollLeft=(left+at)*rows.getBoundingClientRect().width/before-at;marks();}
        function text(ms){const s=Math.floor(ms/1000),two=n=>String(n).padStart(2,'0');
        return 'T+'+two(Math.floor(s/3600))+':'+two(Math.floor(s/60)%60)+':'+two(s%60)+(ms%1000?'.'+String(ms%1000).padStart(3,'0'):'');}
        const steps=[1,2,5,10,20,50,100,200,500,1e3,2e3,5e3,1e4,15e3,3e4,6e4,12e4,3e5,6e5,9e5,18e5,36e5,72e5,108e5,216e5,432e5,864e5];
        function marks(){const pixels=rows.getBoundingClientRect().width*(1-2*margin);
        const step=steps.find(s=>s/end*pixels>=90)||end;let marks='';
        const from=Math.max(0,Math.floor((view.scrollLeft/pixels-margin)*end/step)-5)*step;
        for(let t=from,n=0;t<=end&&n<200;t+=step,n++){const x=(100*(margin+t/end*(1-2*margin)))+'%';
        marks+='<line x1="'+x+'" x2="'+x+'" y1="0" y2="5"/><text x="'+x+'" y="17">'+text(t)+'</text>';}axis.innerHTML=marks;}
        document.querySelectorAll('button[data-zoom]').forEach(b=>b.onclick=()=>{
        const z=+b.dataset.zoom;zoom(z?width*z:100,view.clientWidth/2);});
        view.addEventListener('wheel',e=>{if(!e.ctrlKey)return;e.preventDefault();
        zoom(width*(e.deltaY<0?1.2:0.833),e.clientX-view.getBoundingClientRect().left);},{passive:false});
        view.onscroll=marks;addEventListener('resize',marks);marks();
        const filter=document.getElementById('filter');
        filter.oninput=()=>{const words=filter.value.toLowerCase().split(' ').filter(w=>w);
        document.querySelectorAll('#decisions tr').forEach((r,i)=>{if(i){const t=r.textContent.toLowerCase();
        r.style.display=words.every(w=>t.includes(w))?'':'none';}});};
        """
}
